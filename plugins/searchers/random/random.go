package random

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const (
	// maxPoints is the size up to which a space's points are remembered.
	maxPoints = 1 << 16
	// maxTries is how many draws look for a new point before all are listed.
	maxTries = 100
)

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
	axes  []space.Axis // of a space that is remembered
	size  int
	seen  map[string]bool // keys of points; nil where they are not remembered
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
	s := &searcher{space: problem.Space}
	if !o.Repeats && !s.space.Opaque && len(s.space.Params) > 0 {
		if err := s.remember(); err != nil {
			return nil, sdk.Traits{}, err
		}
	}
	return s, sdk.Traits{Independent: true}, nil
}

// remember starts the memory of points, if they are few enough.
func (s *searcher) remember() error {
	size, ok := s.space.Size(maxPoints)
	switch {
	case !ok:
		return nil
	case size == 0:
		return errors.New("no point of the space satisfies the constraints: loosen them")
	}
	s.axes, _ = s.space.Axes()
	s.size, s.seen = size, map[string]bool{}
	return nil
}

// Observe remembers the points of trials, which may be others than suggested.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	if s.seen == nil {
		return nil
	}
	for _, e := range events {
		if e.Kind == sdk.TrialAdded && s.space.Check(e.Point) == nil && s.space.Holds(e.Point) {
			s.seen[s.space.Key(e.Point)] = true
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
	if err := s.space.CheckGiven(request.Given); err != nil {
		return nil, err
	}
	rng := space.NewRand(request.Seed)
	if s.seen == nil {
		return s.space.SampleGiven(rng, request.Given)
	}
	p := s.unseen(rng, request.Given)
	if p == nil && given(request.Given) {
		return s.space.SampleGiven(rng, request.Given)
	}
	if p != nil {
		s.seen[s.space.Key(p)] = true
	}
	return p, nil
}

// given says whether any coordinate is fixed.
func given(p space.Point) bool {
	for _, x := range p {
		if !math.IsNaN(x) {
			return true
		}
	}
	return false
}

// unseen draws a point that was not seen yet, nil if there is none: by trying at
// first, and from the list of those that are left when that does not find one.
func (s *searcher) unseen(rng *rand.Rand, given space.Point) space.Point {
	if len(s.seen) >= s.size {
		return nil
	}
	for range maxTries {
		p := s.space.Complete(given, s.space.Draw(rng))
		if s.space.Holds(p) && !s.seen[s.space.Key(p)] {
			return p
		}
	}
	left := s.left(given)
	if len(left) == 0 {
		return nil
	}
	return left[int(rng.Float64()*float64(len(left)))] // IntN differs on 32-bit machines
}

// left lists the points with the given coordinates that were not seen yet.
func (s *searcher) left(given space.Point) (points []space.Point) {
	walk := s.space.NewWalk(space.GivenAxes(s.axes, given))
	for walk.Advance() {
		if p := walk.Point(); p != nil && !s.seen[s.space.Key(p)] {
			points = append(points, slices.Clone(p))
		}
	}
	return points
}
