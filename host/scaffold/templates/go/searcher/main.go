// Command scaffold-name is a searcher for tunehost: it draws points at random, and every other one
// near the best so far.
//
// You may change everything here, but this must stay true: answers depend only on the problem, the
// options, the events and the requests' seeds. A crashed searcher is started again and told the same
// events.
package main

import (
	"context"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func main() { serve.Searcher(plugin) }

var plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "scaffold-name",
		Version: "0.1.0",
		Summary: "Draws points at random, every other one near the best so far.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Spread float64
}

// declared are the options: tunehost checks what users write, and shows them in `tunehost plugins
// describe`.
var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Float("spread", &o.Spread, 0.2, option.Above(0).To(1),
			"How far a step from the best may go, as a part of each parameter's range."),
	}
})

// open is called once, before anything else.
func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	seen, err := space.NewSeen(problem.Space, most)
	if err != nil {
		return nil, sdk.Traits{}, err // the space has no points
	}
	s := &searcher{space: problem.Space, spread: o.Spread, seen: seen, points: map[uint32]space.Point{},
		loss: math.Inf(1)}
	return s, sdk.Traits{}, nil
}

// most is the size up to which the points of a finite space are remembered.
const most = 1 << 16

type searcher struct {
	space  *space.Space
	spread float64
	seen   *space.Seen            // so that no point comes twice
	points map[uint32]space.Point // of trials that have not ended
	best   space.Point            // nil until a trial has succeeded
	loss   float64                // of the best
}

// Observe is told of every trial: its point when it is added, its losses (one for each objective,
// smaller is better) when it has ended.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for _, e := range events {
		switch e.Kind {
		case sdk.TrialAdded:
			s.points[e.Trial] = e.Point
			s.seen.Add(e.Point)
		case sdk.TrialCompleted:
			if len(e.Losses) > 0 && e.Losses[0] < s.loss {
				s.best, s.loss = s.points[e.Trial], e.Losses[0]
			}
			delete(s.points, e.Trial)
		case sdk.TrialFailed, sdk.TrialRemoved:
			delete(s.points, e.Trial)
		}
	}
	return nil
}

// Suggest answers each request with a point, until there are no more. Use no other randomness than the
// request's seed; coordinates that the request fixes are in Given.
func (s *searcher) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	var answer sdk.Suggestions
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

// tries is how often a step from the best may violate the constraints.
const tries = 100

// suggest takes the first draw that is new and satisfies the constraints; nil: there is nothing new.
func (s *searcher) suggest(r sdk.Request) (space.Point, error) {
	rng := space.NewRand(r.Seed)
	near := s.best != nil && r.Trial%2 == 1
	return s.seen.Pick(r.Given, rng, func(try int) space.Point {
		if near && try < tries {
			return s.near(rng)
		}
		return s.space.Draw(rng)
	})
}

// near takes a step from the best. In units every parameter ranges from 0 to 1, on a log scale if the
// user asked for one.
func (s *searcher) near(rng space.Source) space.Point {
	p := s.space.Draw(rng)
	for i, x := range s.best {
		if !math.IsNaN(x) { // it exists in the best
			u := s.space.ToUnit(i, x) + s.spread*(rng.Float64()-0.5)
			p[i] = s.space.FromUnit(i, u) // keeps it inside the bounds
		}
	}
	return p
}
