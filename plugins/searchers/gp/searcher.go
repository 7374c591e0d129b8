package gp

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
	"github.com/tunehost/tunehost/plugins/searchers/internal/sequence"
)

// maxPending is the maximum number of trials without a result in the model.
const maxPending = 64

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "gp",
		Version: "1.8.0",
		Summary: "Models results as a Gaussian process and suggests the largest expected improvement: for " +
			"expensive trials.",
		Options: declared.Schema(),
	},
	Open: open,
}

type searcher struct {
	*layout
	options  options
	space    *space.Space
	seen     *space.Seen
	sequence *sequence.Sobol
	history  *history
	shapes   shapes
	// last is the last model, and wary the last one that assumed more variation: the next ones have mostly the same
	// points.
	last, wary *model
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	s, err := newSearcher(problem, text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return s, sdk.Traits{}, nil
}

func newSearcher(problem sdk.Problem, text []byte) (*searcher, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, err
	}
	seen, err := answer.Seen(problem.Space, o.Repeats)
	if err != nil {
		return nil, err
	}
	points, err := sequence.New(len(problem.Space.Params), problem.Seed)
	l := newLayout(problem.Space)
	return &searcher{layout: l, options: o, space: problem.Space, seen: seen, sequence: points,
		history: newHistory(l, max(1, len(problem.Objectives)))}, err
}

// Observe updates the data; models are built when they are needed.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		if err := s.history.observe(&events[i]); err != nil {
			return err
		}
		if events[i].Kind == sdk.TrialAdded {
			s.seen.Add(events[i].Point)
		}
	}
	return nil
}

// Suggest answers each request separately, with the points of earlier requests as running trials.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, func(request sdk.Request) (space.Point, error) {
		s.history.forget(request.Trial)
		p, err := s.suggest(request)
		if p != nil {
			s.history.ask(request.Trial, s.features(p))
		}
		return p, err
	})
}

// suggest returns nil if there is no point left.
func (s *searcher) suggest(request sdk.Request) (space.Point, error) {
	if err := s.space.CheckGiven(request.Given); err != nil {
		return nil, err
	}
	rng := space.NewRand(request.Seed)
	modelled := s.history.finite >= s.options.Startup && len(s.order) > 0 && !s.seen.Full()
	if s.history.fidelity.Blind(rng) {
		modelled = false
	}
	var proposal space.Point
	if modelled {
		proposal = s.propose(request.Given, rng)
	}
	return s.seen.Pick(request.Given, rng, func(try int) space.Point {
		if try == 0 && proposal != nil {
			return proposal
		}
		p := s.space.Draw(rng)
		for i := range s.sequence.Dimensions() {
			if try == 0 {
				p[i] = s.space.FromUnit(i, s.even(request.Trial, i))
			}
		}
		return p
	})
}

// even returns the coordinate of parameter i of an evenly distributed point.
func (s *searcher) even(trial uint32, i int) float64 {
	u := s.sequence.At(trial, i)
	if s.space.Params[i].Kind == space.Choice || !s.inMiddle() {
		return u
	}
	return toMiddle(u)
}

// inMiddle reports whether points are those of the beginning, which are in the middle of the ranges: with one
// objective, until the model is used, a trial has ended without a value, or too many points have none yet.
func (s *searcher) inMiddle() bool {
	h := s.history
	return h.objectives == 1 && h.finite < s.options.Startup && !h.missed &&
		h.valueless() < mostValueless*s.options.Startup
}
