package random

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "random",
		Version: "1.0.0",
		Summary: "Draws random points, without repetition in small finite spaces.",
		Options: answer.Simple.Schema(),
	},
	Open: open,
}

type searcher struct {
	space *space.Space
	seen  *space.Seen
}

func open(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
	repeats, err := answer.Simple.Read(options)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	seen, err := answer.Seen(problem.Space, repeats)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &searcher{problem.Space, seen}, sdk.Traits{Independent: true}, nil
}

// Observe remembers the points of trials, which may differ from the suggestions.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		if e.Kind == sdk.TrialAdded {
			s.seen.Add(e.Point)
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
	return s.seen.Pick(request.Given, rng, func(int) space.Point { return s.space.Draw(rng) })
}
