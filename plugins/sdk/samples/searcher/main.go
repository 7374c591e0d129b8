// Command searcher is the searcher "climber": after some random points it takes small random steps
// from the best point so far.
//
// It can be built as a program and as a WASM module:
//
//	go build -o climber .
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o climber.wasm .
package main

import (
	"context"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var climber = sdk.SearcherPlugin{
	Info: sdk.Info{
		Name:    "climber",
		Version: "1.0.0",
		Summary: "Takes small random steps from the best point so far.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() { serve.Searcher(climber) }

// maxPoints is the maximum size of a finite space whose points are remembered.
const maxPoints = 1 << 16

type options struct {
	Start uint32
	Step  float64
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("start", &o.Start, 10, option.From(1),
			"How many points are random before the first step."),
		option.Float("step", &o.Step, 0.1, option.Above(0).To(1),
			"The standard deviation of a step, in units of each parameter's range."),
	}
})

type searcher struct {
	options
	space *space.Space
	seen  *space.Seen

	points map[uint32]space.Point // of the trials that have not ended
	best   space.Point            // nil: no result yet
	loss   float64
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := problem.Space.Validate(); err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &searcher{options: o, space: problem.Space, points: map[uint32]space.Point{}, loss: math.Inf(1)}
	s.seen, err = space.NewSeen(s.space, maxPoints)
	return s, sdk.Traits{}, err
}

// Observe implements sdk.Searcher.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		switch e.Kind {
		case sdk.TrialAdded:
			s.points[e.Trial] = e.Point
			s.seen.Add(e.Point)
		case sdk.ResultReported:
			if p := s.points[e.Trial]; p != nil && e.Losses[0] < s.loss {
				s.best, s.loss = p, e.Losses[0]
			}
		case sdk.TrialCompleted, sdk.TrialFailed, sdk.TrialRemoved:
			delete(s.points, e.Trial)
		}
	}
	return nil
}

// Suggest implements sdk.Searcher.
func (s *searcher) Suggest(_ context.Context, requests []sdk.Request) (answer sdk.Suggestions, err error) {
	for _, r := range requests {
		p, err := s.suggest(r)
		if err != nil {
			return sdk.Suggestions{}, err
		}
		if p == nil {
			answer.Status = sdk.Exhausted
			break
		}
		answer.Points = append(answer.Points, p)
	}
	return answer, nil
}

// suggest returns nil if every point of a finite space was suggested.
func (s *searcher) suggest(r sdk.Request) (space.Point, error) {
	rng := space.NewRand(r.Seed)
	return s.seen.Pick(r.Given, rng, func(int) space.Point {
		p := s.space.Draw(rng)
		if r.Trial >= s.Start && s.best != nil {
			s.near(p, rng)
		}
		return p
	})
}

// near replaces the values that exist in the best point by a step from there.
func (s *searcher) near(p space.Point, rng space.Source) {
	for i, x := range s.best {
		if !math.IsNaN(x) {
			p[i] = s.space.FromUnit(i, s.space.ToUnit(i, x)+float64(s.Step*normal(rng)))
		}
	}
}

// normal returns an approximately normal number, computed only with additions: the same bits on
// every machine, and in a module.
func normal(rng space.Source) float64 {
	sum := -6.0
	for range 12 {
		sum += rng.Float64()
	}
	return sum
}
