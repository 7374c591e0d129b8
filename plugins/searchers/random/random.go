package random

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxPoints is the size up to which a space's points are remembered.
const maxPoints = 1 << 16

// Plugin is the searcher as it is served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "random",
		Version: "1.0.0",
		Summary: "Draws points at random; in small finite spaces none twice.",
		Options: []byte(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repeats": {
      "type": "boolean",
      "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`),
	},
	Open: open,
}

type searcher struct {
	space *space.Space
	seen  *space.Seen
}

func open(problem sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
	var o struct {
		Repeats bool `json:"repeats"`
	}
	if err := sdk.ReadOptions(options, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := problem.Space.Validate(); err != nil {
		return nil, sdk.Traits{}, err
	}
	limit := maxPoints
	if o.Repeats {
		limit = 0
	}
	seen, err := space.NewSeen(problem.Space, limit)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &searcher{problem.Space, seen}, sdk.Traits{Independent: true}, nil
}

// Observe remembers the points of trials, which may be others than suggested.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		if e.Kind == sdk.TrialAdded {
			s.seen.Add(e.Point)
		}
	}
	return nil
}

// Suggest answers each request by itself.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	var answer sdk.Suggestions
	for _, request := range requests {
		if err := ctx.Err(); err != nil {
			return sdk.Suggestions{}, err
		}
		p, err := s.suggest(request)
		if err != nil {
			return sdk.Suggestions{}, fmt.Errorf("trial %d: %w", request.Trial, err)
		}
		if p == nil {
			answer.Status = sdk.Exhausted
			break
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

// suggest returns nil when there is no point left.
func (s *searcher) suggest(request sdk.Request) (space.Point, error) {
	rng := space.NewRand(request.Seed)
	return s.seen.Pick(request.Given, rng, func(int) space.Point { return s.space.Draw(rng) })
}
