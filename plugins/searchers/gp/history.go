package gp

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// trial is what is known of one.
type trial struct {
	number uint32
	x      []float64 // its features
	// last is its last result, nil without one.
	last []float64
	// losses is the result that counts, nil while none does; not finite where it
	// failed.
	losses  []float64
	seconds float64
}

// history is the trials. They are referred to by their place, the order in which
// they were added.
type history struct {
	layout     *layout
	objectives int
	place      map[uint32]int
	trials     []trial
	// counted are the trials that ended or paused with a result or failed, in that
	// order, and finite how many have a finite one.
	counted []int
	finite  int
	// revisions counts results that replaced others.
	revisions int
	// pending are the trials without a result that counts.
	pending []int
	// asked are suggestions that are not trials yet.
	asked []trial
}

func newHistory(l *layout, objectives int) *history {
	return &history{layout: l, objectives: objectives, place: map[uint32]int{}}
}

// observe takes one event.
func (h *history) observe(e *sdk.Event) error {
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.layout.axes) {
			return fmt.Errorf("trial %d has %d values; the space has %d parameters", e.Trial, len(e.Point), len(h.layout.axes))
		}
		h.add(e.Trial, h.layout.features(e.Point))
		return nil
	}
	i, known := h.place[e.Trial]
	if !known {
		return nil
	}
	if n := len(e.Losses); n != 0 && n != h.objectives {
		return fmt.Errorf("a result of trial %d has %d losses; there are %d objectives", e.Trial, n, h.objectives)
	}
	h.follow(i, e)
	return nil
}

// add adds a trial. Trials are added in the order of their numbers, so that no
// suggestion up to this one will become a trial.
func (h *history) add(number uint32, x []float64) {
	h.forgetAsked(func(n uint32) bool { return n <= number })
	if _, again := h.place[number]; again {
		return
	}
	h.place[number] = len(h.trials)
	h.pending = append(h.pending, len(h.trials))
	h.trials = append(h.trials, trial{number: number, x: x})
}

// follow takes an event of the trial at i. A result counts from when the trial ends
// or pauses first; then later ones replace it.
func (h *history) follow(i int, e *sdk.Event) {
	t := &h.trials[i]
	if len(e.Losses) > 0 {
		t.last = slices.Clone(e.Losses)
	}
	if e.Seconds > t.seconds && !math.IsInf(e.Seconds, 1) {
		t.seconds = e.Seconds
	}
	switch e.Kind {
	case sdk.ResultReported:
		if t.losses != nil && len(e.Losses) > 0 {
			h.count(i, t.last)
		}
	case sdk.TrialPaused, sdk.TrialRemoved, sdk.TrialCompleted:
		h.settle(i, t.last)
	case sdk.TrialFailed:
		h.settle(i, slices.Repeat([]float64{math.Inf(1)}, h.objectives))
	}
}

// settle takes a trial from the pending ones and counts its result, if it has one: a
// trial that was taken away before its first result says nothing.
func (h *history) settle(i int, losses []float64) {
	if k := slices.Index(h.pending, i); k >= 0 {
		h.pending = slices.Delete(h.pending, k, k+1)
	}
	if len(losses) > 0 {
		h.count(i, losses)
	}
}

// count sets the result that counts for a trial.
func (h *history) count(i int, losses []float64) {
	t := &h.trials[i]
	if t.losses == nil {
		h.counted = append(h.counted, i)
	} else if !slices.Equal(t.losses, losses) {
		h.revisions++
	}
	h.finite += outcomes.Tally(losses) - outcomes.Tally(t.losses)
	t.losses = losses
}

// forget drops suggestions for the trials from number on: they are asked for again.
func (h *history) forget(number uint32) {
	h.forgetAsked(func(n uint32) bool { return n >= number })
}

// ask remembers a suggestion until its trial is added.
func (h *history) ask(number uint32, x []float64) {
	h.asked = append(h.asked, trial{number: number, x: x})
}

func (h *history) forgetAsked(which func(uint32) bool) {
	h.asked = slices.DeleteFunc(h.asked, func(t trial) bool { return which(t.number) })
}

// waiting are the points of the last trials without a result, asked ones included.
func (h *history) waiting() (points [][]float64) {
	for _, i := range h.pending {
		points = append(points, h.trials[i].x)
	}
	for i := range h.asked {
		points = append(points, h.asked[i].x)
	}
	return points[max(0, len(points)-maxPending):]
}
