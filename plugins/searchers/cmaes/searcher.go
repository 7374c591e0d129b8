package cmaes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
	"github.com/tunehost/tunehost/plugins/searchers/internal/cube"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
	"github.com/tunehost/tunehost/plugins/searchers/internal/sequence"
)

// Plugin is the searcher to be served.
var Plugin = sdk.SearcherPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindSearcher,
		Name:    "cmaes",
		Version: "1.1.0",
		Summary: "Adapts a normal distribution to the best results (CMA-ES): for numeric parameters and hundreds of " +
			"trials or more.",
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
	trials   *outcomes.Trials
	// ended are trials of no generation yet; finite is the number of them with a finite result.
	ended  []*outcomes.Outcome
	finite int
	// best is the best trial's point, or nil.
	best     space.Point
	bestLoss float64
	strategy *strategy // nil until startup trials have ended
	restarts int
}

func open(problem sdk.Problem, text []byte) (sdk.Searcher, sdk.Traits, error) {
	s, err := newSearcher(problem, text)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return s, sdk.Traits{}, nil
}

func newSearcher(problem sdk.Problem, text []byte) (*searcher, error) {
	o, err := readOptions(text)
	if err != nil {
		return nil, err
	}
	if n := len(problem.Objectives); n > 1 {
		return nil, fmt.Errorf("cmaes has one objective, not %d: use tpe, gp or nsga2, or keep one objective", n)
	}
	seen, err := answer.Seen(problem.Space, o.Repeats)
	if err != nil {
		return nil, err
	}
	points, err := sequence.New(len(problem.Space.Params), problem.Seed)
	return &searcher{layout: newLayout(problem.Space), options: o, space: problem.Space, seen: seen, sequence: points,
		trials: outcomes.New(problem)}, err
}

// Observe updates the distribution when a generation has ended.
func (s *searcher) Observe(_ context.Context, events []sdk.Event) error {
	for i := range events {
		e := &events[i]
		if e.Kind == sdk.TrialAdded {
			s.seen.Add(e.Point)
		}
		outcome, err := s.trials.Observe(e)
		if err != nil {
			return err
		}
		if outcome != nil {
			s.take(outcome)
		}
	}
	return nil
}

// take counts a trial that has ended.
func (s *searcher) take(o *outcomes.Outcome) {
	if o.Finite() && (s.best == nil || o.Losses[0] < s.bestLoss) {
		s.best, s.bestLoss = o.Point, o.Losses[0]
	}
	s.ended = outcomes.Place(s.ended, o)
	if o.Finite() {
		s.finite++
	}
	switch {
	case s.strategy == nil:
		if s.finite >= s.options.Startup {
			s.begin()
			s.ended, s.finite = nil, 0
		}
	case len(s.ended) >= s.strategy.size && 2*s.finite >= s.strategy.size:
		s.strategy.learn(s.ended)
		s.ended, s.finite = nil, 0
		s.restart()
	}
}

// begin creates the first distribution: around the best third of the trials, weighted by rank, with
// probabilities of categories by their frequency there.
func (s *searcher) begin() {
	slices.SortStableFunc(s.ended, func(a, b *outcomes.Outcome) int { return cmp.Compare(a.Losses[0], b.Losses[0]) })
	var top []step
	for _, o := range s.ended[:(s.finite+2)/3] {
		top = append(top, step{trial: o.Trial, at: cube.Of(s.axes, o.Point)})
	}
	weights := newRates(2*len(top)+1, len(s.numbers)).weights[:len(top)]
	s.strategy = newStrategy(s.layout, s.options, population(s.layout, s.options), middle(top, weights, len(s.axes)))
	s.strategy.learnChoices(top, weights, firstRate)
}

// middle returns the weighted mean of the trials that have a parameter, and 0.5 for parameters that
// none has.
func middle(top []step, weights []float64, dims int) []float64 {
	at := make([]float64, dims)
	for i := range at {
		sum, weight := 0.0, 0.0
		for k, t := range top {
			if !math.IsNaN(t.at[i]) {
				sum += float64(weights[k] * t.at[i])
				weight += weights[k]
			}
		}
		at[i] = 0.5
		if weight > 0 {
			at[i] = sum / weight
		}
	}
	return at
}

// restart starts again elsewhere when the search has converged.
func (s *searcher) restart() {
	if !s.strategy.watch.stopped || !s.options.Restarts {
		return
	}
	s.restarts++
	at := make([]float64, len(s.axes))
	const far = 1 << 24 // points of the sequence, beyond those of the first trials
	for i := range at {
		at[i] = 0.5
		if i < s.sequence.Dimensions() {
			at[i] = s.sequence.At(uint32(far+s.restarts), i)
		}
	}
	const largest = 1 << 14
	s.strategy = newStrategy(s.layout, s.options, min(2*s.strategy.size, largest), at)
}

// Suggest answers each request separately.
func (s *searcher) Suggest(ctx context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	return answer.Each(ctx, requests, s.suggest)
}

// suggest returns nil if there is no point left.
func (s *searcher) suggest(request sdk.Request) (space.Point, error) {
	d := &drawing{searcher: s, request: request, rng: space.NewRand(request.Seed), wide: 1}
	return s.seen.Pick(request.Given, d.rng, d.draw)
}
