package bohb

import (
	"context"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

const (
	// maxProposals is how often the model is asked for a point that is new and satisfies the
	// constraints, before points are drawn at random.
	maxProposals = 16
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "bohb",
		Version: "1.2.0",
		Summary: "Models good and bad trials of the largest budget that has enough of them; for the scheduler " +
			"hyperband.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Good       float64
	Random     float64
	Candidates int
	Factor     float64
	Points     int
	Width      float64
	Repeats    bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Float("good", &o.Good, 0.15, option.Above(0).Below(1),
			"The share of a budget's trials that count as good."),
		option.Float("random", &o.Random, 1.0/3, option.From(0).To(1),
			"The share of suggestions drawn at random."),
		option.Int("candidates", &o.Candidates, 64, option.From(1).To(10_000),
			"The number of points drawn around good trials for each suggestion."),
		option.Float("bandwidth_factor", &o.Factor, 3, option.Above(0).To(100),
			"The width of the draws around good trials, as a multiple of the kernels' width."),
		option.Int("min_points", &o.Points, 0, option.From(0).To(100_000),
			"The number of good and of bad trials that a model needs at least; it is never less than the number of "+
				"parameters and one more."),
		option.Float("min_bandwidth", &o.Width, 1e-3, option.Above(0).To(1),
			"The least width of a kernel, for parameters that hardly vary."),
		answer.Repeats(&o.Repeats),
	}
})

type searcher struct {
	options
	space   *space.Space
	seen    *space.Seen
	history *history
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &searcher{options: o, space: problem.Space}
	s.seen, err = answer.Seen(problem.Space, s.Repeats)
	s.history = newHistory(problem, o)
	return s, sdk.Traits{}, err
}

// Observe groups results by budget.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
		if err := s.history.observe(&events[i]); err != nil {
			return err
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
	var m *model
	if rng.Float64() >= s.Random {
		m = s.history.model(s.Good)
	}
	return s.seen.Pick(request.Given, rng, func(try int) space.Point {
		if m == nil || try >= maxProposals {
			return s.space.Draw(rng)
		}
		return s.propose(m, request.Given, rng)
	})
}

// propose returns the best of several draws around good trials.
func (s *searcher) propose(m *model, given space.Point, rng *rand.Rand) (best space.Point) {
	most := 0.0
	for range s.Candidates {
		near := m.good.rows[rng.IntN(len(m.good.rows))]
		p := s.space.Complete(given, m.good.around(near, s.Factor, rng), s.space.Draw(rng))
		u := m.good.coordinates(p)
		if ratio := m.good.log(u) - m.bad.log(u); best == nil || ratio > most {
			best, most = p, ratio
		}
	}
	return best
}
