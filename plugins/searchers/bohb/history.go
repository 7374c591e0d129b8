package bohb

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// history has the results by budget.
type history struct {
	space      *space.Space
	objectives int
	trials     map[uint32]*trial
	budgets    map[uint64]*budget
	// largest is the largest budget with a model; results at smaller ones are ignored.
	largest uint64
	// points is the least number of good and of bad trials, if it is above that of parameters.
	points int
	width  float64 // of a kernel, at least
}

// trial is a trial that has not ended, or failed.
type trial struct {
	point     space.Point
	iteration uint64
	loss      float64
}

// budget has the results at one budget.
type budget struct {
	results []result // best first
	cache   *model   // nil after a new result
}

type result struct {
	trial uint32
	loss  float64
	point space.Point
}

func newHistory(problem sdk.Problem, o options) *history {
	return &history{space: problem.Space, objectives: max(1, len(problem.Objectives)),
		trials: map[uint32]*trial{}, budgets: map[uint64]*budget{}, points: o.Points, width: o.Width}
}

func (h *history) observe(e *sdk.Event) error {
	if n := len(e.Losses); n != 0 && n != h.objectives {
		return fmt.Errorf("a result of trial %d has %d losses; there are %d objectives", e.Trial, n, h.objectives)
	}
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.space.Params) {
			return fmt.Errorf("the point of trial %d has length %d; expected %d, one for each parameter", e.Trial,
				len(e.Point), len(h.space.Params))
		}
		h.trials[e.Trial] = &trial{point: slices.Clone(e.Point)}
		return nil
	}
	t := h.trials[e.Trial]
	if t == nil {
		return nil
	}
	if len(e.Losses) > 0 {
		t.loss = e.Losses[0]
		t.iteration = max(t.iteration, e.Iteration)
	}
	h.settle(e, t)
	return nil
}

// settle counts a trial at its budget when it pauses or ends.
func (h *history) settle(e *sdk.Event, t *trial) {
	switch e.Kind {
	case sdk.TrialPaused:
	case sdk.TrialFailed:
		t.loss = math.Inf(1) // unless it runs again
	case sdk.TrialCompleted, sdk.TrialRemoved:
		delete(h.trials, e.Trial)
	default:
		return
	}
	if t.iteration > 0 {
		h.add(t.iteration, result{e.Trial, t.loss, t.point})
	}
}

// add counts a result at a budget; a trial has at most one there.
func (h *history) add(iteration uint64, r result) {
	if math.IsNaN(r.loss) {
		r.loss = math.Inf(1)
	}
	b := h.budgets[iteration]
	if b == nil {
		b = &budget{}
		h.budgets[iteration] = b
	}
	b.results = slices.DeleteFunc(b.results, func(x result) bool { return x.trial == r.trial })
	at, _ := slices.BinarySearchFunc(b.results, r, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.trial, b.trial))
	})
	b.results = slices.Insert(b.results, at, r)
	b.cache = nil
	if h.enough(b) {
		h.largest = max(h.largest, iteration)
	}
}

// least returns the minimum number of rows of a density.
func (h *history) least() int { return max(h.points, len(h.space.Params)+1) }

// enough reports whether there are enough trials for both densities: good ones have a finite loss.
func (h *history) enough(b *budget) bool {
	return len(b.results) >= h.least()+2 && b.finite() >= h.least()
}

// finite returns the number of results with a finite loss.
func (b *budget) finite() int {
	n, _ := slices.BinarySearchFunc(b.results, math.Inf(1), func(r result, x float64) int {
		return cmp.Compare(r.loss, x)
	})
	return n
}

// model returns the model of the largest budget that has one, or nil.
func (h *history) model(good float64) *model {
	b := h.budgets[h.largest]
	if b == nil || !h.enough(b) {
		return nil
	}
	if b.cache == nil {
		b.cache = h.fit(b, good)
	}
	return b.cache
}

// fit returns the densities of the best trials, which all have a finite loss, and of the rest. They overlap if
// there are few trials.
func (h *history) fit(b *budget, good float64) *model {
	results, n := b.results, len(b.results)
	best := min(b.finite(), max(h.least(), int(good*float64(n))))
	rest := min(n, max(h.least(), n-best))
	return &model{
		good: newDensity(h.space, results[:best], h.width),
		bad:  newDensity(h.space, results[n-rest:], h.width),
	}
}
