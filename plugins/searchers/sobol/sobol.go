package sobol

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
	"github.com/tunehost/tunehost/plugins/searchers/internal/sequence"
)

const (
	// stride is the distance in the sequence to the next point of a trial.
	stride = 1 << 24
	// maxTries is how many points of the sequence a trial has before random ones follow.
	maxTries = 1 << 8
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "sobol",
		Version: "1.0.0",
		Summary: "Fills the space evenly with a scrambled Sobol sequence.",
		Options: answer.Simple.Schema(),
	},
	Open: open,
}

type searcher struct {
	space    *space.Space
	seen     *space.Seen
	sequence *sequence.Sobol
	tries    map[uint32]uint32 // how many points unfinished trials have had
}

func open(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
	repeats, err := answer.Simple.Read(options)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s, err := newSearcher(problem, repeats)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return s, sdk.Traits{Independent: true}, nil
}

func newSearcher(problem sdk.Problem, repeats bool) (*searcher, error) {
	seen, err := answer.Seen(problem.Space, repeats)
	if err != nil {
		return nil, err
	}
	points, err := sequence.New(len(problem.Space.Params), problem.Seed)
	if err != nil {
		return nil, err
	}
	return &searcher{problem.Space, seen, points, map[uint32]uint32{}}, nil
}

// Observe remembers the points of trials, which may differ from the suggestions.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		if e.Kind == sdk.TrialAdded {
			s.seen.Add(e.Point)
			delete(s.tries, e.Trial)
		}
	}
	return nil
}

// Suggest answers each request separately.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, s.suggest)
}

// suggest returns nil if there is no point left.
func (s *searcher) suggest(request sdk.Request) (space.Point, error) {
	rng := space.NewRand(request.Seed)
	return s.seen.Pick(request.Given, rng, func(int) space.Point {
		p := s.space.Draw(rng)
		if try := s.tries[request.Trial]; try < maxTries {
			s.setCoordinates(p, request.Trial+try*stride)
			s.tries[request.Trial]++
		}
		return p
	})
}

// setCoordinates sets the coordinates of the sequence's dimensions.
func (s *searcher) setCoordinates(p space.Point, index uint32) {
	for i := range s.sequence.Dimensions() {
		p[i] = s.space.FromUnit(i, s.sequence.At(index, i))
	}
}
