package gp

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// trial is the state of one trial.
type trial struct {
	number uint32
	x      []float64 // its features
	// last is its last result, or nil.
	last []float64
	// losses is the result that counts, or nil; not finite if the trial failed.
	losses  []float64
	seconds float64
}

// history has all trials. They are referred to by their index in the order of addition.
type history struct {
	layout     *layout
	objectives int
	place      map[uint32]int
	trials     []trial
	// counted are the trials that ended or paused with a result or failed, in that order, and
	// finite is the number with a finite result.
	counted []int
	finite  int
	// revisions counts replaced results.
	revisions int
	// pending are the trials without a result that counts.
	pending []int
	// asked are suggestions that are not trials yet.
	asked []trial
}

func newHistory(l *layout, objectives int) *history {
	return &history{layout: l, objectives: objectives, place: map[uint32]int{}}
}

// observe processes one event.
func (h *history) observe(e *sdk.Event) error {
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.layout.axes) {
			return fmt.Errorf("trial %d has %d values; the space has %d parameters", e.Trial, len(e.Point),
				len(h.layout.axes))
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

// add adds a trial. Trials are added in the order of their numbers, so earlier suggestions will not
// become trials.
func (h *history) add(number uint32, x []float64) {
	h.forgetAsked(func(n uint32) bool { return n <= number })
	if _, again := h.place[number]; again {
		return
	}
	h.place[number] = len(h.trials)
	h.pending = append(h.pending, len(h.trials))
	h.trials = append(h.trials, trial{number: number, x: x})
}

// follow processes an event of the trial at i. A result counts when the trial first ends or pauses;
// later ones replace it.
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

// settle removes a trial from the pending ones and counts its result, if it has one. A trial
// removed before its first result is ignored.
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

// forget drops suggestions for the trials from number on, which are requested again.
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

// waiting returns the points of the last trials without a result, including suggestions that are
// not trials yet.
func (h *history) waiting() (points [][]float64) {
	for _, i := range h.pending {
		points = append(points, h.trials[i].x)
	}
	for i := range h.asked {
		points = append(points, h.asked[i].x)
	}
	return points[max(0, len(points)-maxPending):]
}
