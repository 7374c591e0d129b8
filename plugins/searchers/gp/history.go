package gp

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/fidelity"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// trial is the state of one trial.
type trial struct {
	number uint32
	x      []float64 // its features
	// losses are those that are compared, or nil; not finite if the trial failed.
	losses   []float64
	reported bool
	// finite: its last losses are.
	finite bool
	failed bool
	// ended: it ended or paused once, with a result or a failure.
	ended   bool
	seconds float64
	told    bool // seconds are
}

// history has all trials. They are referred to by their index in the order of addition.
type history struct {
	layout     *layout
	objectives int
	place      map[uint32]int
	trials     []trial
	// fidelity has the results of trials at their iterations.
	fidelity *fidelity.Trials
	// ended are the trials that ended or paused with a result or failed, in that order. counted are
	// those of them whose losses are compared, stopped the others, and finite is the number with
	// finite losses.
	ended, counted, stopped []int
	finite                  int
	// missed: a trial failed, or ended without a finite loss.
	missed bool
	// revisions counts replaced results.
	revisions int
	// pending are the trials without a result that counts.
	pending []int
	// asked are suggestions that are not trials yet.
	asked []trial
}

// enough is how many trials must have reached an iteration for the losses there to be compared, with one
// objective: few, because the end of the longest trials is what counts.
const enough = 3

func newHistory(l *layout, objectives int) *history {
	least := enough
	if objectives > 1 {
		least = len(l.axes) + 3
	}
	return &history{layout: l, objectives: objectives, place: map[uint32]int{}, fidelity: fidelity.New(least)}
}

// observe processes one event.
func (h *history) observe(e *sdk.Event) error {
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.layout.axes) {
			return fmt.Errorf("the point of trial %d has length %d; expected %d, one for each parameter", e.Trial,
				len(e.Point), len(h.layout.axes))
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
	h.fidelity.Add()
}

// follow processes an event of the trial at i. A trial counts when it first ends or pauses; later
// results replace earlier ones.
func (h *history) follow(i int, e *sdk.Event) {
	t := &h.trials[i]
	if len(e.Losses) > 0 {
		t.reported, t.finite = true, outcomes.Finite(e.Losses)
		h.fidelity.Report(i, e.Iteration, slices.Clone(e.Losses))
	}
	if e.Seconds > t.seconds && !math.IsInf(e.Seconds, 1) {
		t.seconds, t.told = e.Seconds, e.SecondsTold
	}
	switch e.Kind {
	case sdk.ResultReported:
		t.failed = false // it runs again
		if t.ended {
			h.count(i)
		}
	case sdk.TrialFailed, sdk.TrialCompleted:
		t.failed = e.Kind == sdk.TrialFailed || !t.reported // one that failed may have run again
		h.missed = h.missed || t.failed || !t.finite
		h.settle(i, e.Kind)
	case sdk.TrialPaused, sdk.TrialRemoved:
		h.settle(i, e.Kind)
	}
}

// valueless returns how many trials, and suggestions that are to become some, have no finite loss.
func (h *history) valueless() int {
	n := len(h.asked)
	for i := range h.trials {
		if !h.trials[i].finite {
			n++
		}
	}
	return n
}

// settle removes a trial from the pending ones and counts it, if it has a result or failed, as one did that
// completed without a result. A trial removed before its first result is ignored.
func (h *history) settle(i int, kind sdk.EventKind) {
	if k := slices.Index(h.pending, i); k >= 0 {
		h.pending = slices.Delete(h.pending, k, k+1)
	}
	t := &h.trials[i]
	if !t.reported && !t.failed {
		return
	}
	if !t.failed && h.fidelity.End(i, kind == sdk.TrialPaused) {
		h.recount()
	}
	if !t.ended {
		t.ended = true
		h.ended = append(h.ended, i)
		h.stopped = append(h.stopped, i)
	}
	h.count(i)
}

// recount counts all trials again, because other losses are compared now.
func (h *history) recount() {
	h.counted, h.stopped, h.finite = nil, nil, 0
	h.revisions++
	for _, i := range h.ended {
		t := &h.trials[i]
		if t.losses = h.compared(i); t.losses == nil {
			h.stopped = append(h.stopped, i)
			continue
		}
		h.counted = append(h.counted, i)
		h.finite += outcomes.Tally(t.losses)
	}
}

// count sets the losses of a trial that are compared.
func (h *history) count(i int) {
	t, losses := &h.trials[i], h.compared(i)
	switch {
	case losses == nil:
		return
	case t.losses == nil:
		h.stopped = slices.DeleteFunc(h.stopped, func(k int) bool { return k == i })
		h.counted = append(h.counted, i)
	case !slices.Equal(t.losses, losses):
		h.revisions++
	}
	h.finite += outcomes.Tally(losses) - outcomes.Tally(t.losses)
	t.losses = losses
}

// compared returns the losses of a trial that can be compared with others, or nil.
func (h *history) compared(i int) []float64 {
	if h.trials[i].failed {
		return slices.Repeat([]float64{math.Inf(1)}, h.objectives)
	}
	return h.fidelity.Losses(i)
}

// has reports whether a trial, or a suggestion that is to become one, has exactly these features. At a bound of the
// space the expected improvement can be largest where a trial was.
func (h *history) has(x []float64) bool {
	same := func(t trial) bool { return slices.Equal(t.x, x) }
	return slices.ContainsFunc(h.trials, same) || slices.ContainsFunc(h.asked, same)
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
