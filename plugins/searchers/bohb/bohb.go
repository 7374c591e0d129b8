package bohb

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

const (
	// maxProposals is how often the model is asked for a point that is new and
	// satisfies the constraints, before points are drawn at random.
	maxProposals = 16
)

// Plugin is the searcher as it is served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "bohb",
		Version: "1.0.0",
		Summary: "Models good and bad trials of the largest budget that has enough of them; for the scheduler hyperband.",
		Options: []byte(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "good": {
      "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.15,
      "description": "The share of a budget's trials that is good."
    },
    "random": {
      "type": "number", "minimum": 0, "maximum": 1, "default": 0.3333333333333333,
      "description": "The share of suggestions that are drawn at random."
    },
    "candidates": {
      "type": "integer", "minimum": 1, "maximum": 10000, "default": 64,
      "description": "How many points are drawn around good trials for each suggestion."
    },
    "bandwidth_factor": {
      "type": "number", "exclusiveMinimum": 0, "maximum": 100, "default": 3,
      "description": "How much wider than the kernels the draws around good trials are."
    },
    "repeats": {
      "type": "boolean", "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`),
	},
	Open: open,
}

type options struct {
	Good       float64 `json:"good"`
	Random     float64 `json:"random"`
	Candidates int     `json:"candidates"`
	Factor     float64 `json:"bandwidth_factor"`
	Repeats    bool    `json:"repeats"`
}

type searcher struct {
	options
	space   *space.Space
	seen    *space.Seen
	history *history
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	s := &searcher{options: options{Good: 0.15, Random: 1.0 / 3, Candidates: 64, Factor: 3}, space: problem.Space}
	if err := sdk.ReadOptions(text, &s.options); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := s.check(); err != nil {
		return nil, sdk.Traits{}, err
	}
	var err error
	s.seen, err = answer.Seen(problem.Space, s.Repeats)
	s.history = newHistory(problem)
	return s, sdk.Traits{}, err
}

func (o *options) check() error {
	switch {
	case !(o.Good > 0 && o.Good < 1):
		return fmt.Errorf("good is %g; it must be between 0 and 1", o.Good)
	case !(o.Random >= 0 && o.Random <= 1):
		return fmt.Errorf("random is %g; it must be from 0 to 1", o.Random)
	case o.Candidates < 1:
		return fmt.Errorf("candidates is %d; it must be at least 1", o.Candidates)
	case !(o.Factor > 0):
		return fmt.Errorf("bandwidth_factor is %g; it must be above 0", o.Factor)
	}
	return nil
}

// Observe sorts results by their budgets.
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

// Suggest answers each request by itself.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, s.suggest)
}

// suggest returns nil when there is no point left.
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

// propose is the best of several draws around good trials.
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
