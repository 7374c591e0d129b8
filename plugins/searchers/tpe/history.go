package tpe

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/fidelity"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// trial is the state of one trial.
type trial struct {
	number uint32
	// at is its point in coordinates.
	at []float64
	// reported: it has a result.
	reported, failed bool
	// losses are those that are compared, or nil.
	losses []float64
	// counted: it ended or paused once, and is in the groups.
	counted bool
}

// history has the trials, in the order of addition, and the data of the models, updated with each
// event. Trials are referred to by their index.
type history struct {
	coordinates []coordinate
	objectives  int
	// finite is the number of trials with a finite result that counts.
	finite int
	place  map[uint32]int
	trials []trial
	// fidelity has the results of trials at their iterations.
	fidelity *fidelity.Trials
	// pending are the running or waiting trials without a result that counts.
	pending []int
	// asked are suggestions that are not trials yet; they count as pending.
	asked []asked
	// branches has the data of each group's models.
	branches []branch
}

// asked is a suggestion that is not a trial yet.
type asked struct {
	number uint32
	at     []float64
}

func newHistory(coordinates []coordinate, groups []group, objectives int) *history {
	h := &history{coordinates: coordinates, objectives: objectives, place: map[uint32]int{},
		fidelity: fidelity.New(len(coordinates) + 3)}
	for _, g := range groups {
		h.branches = append(h.branches, newBranch(g.first, objectives))
	}
	return h
}

// locate returns a point in coordinates.
func (h *history) locate(p space.Point) []float64 {
	at := make([]float64, len(p))
	for i := range p {
		at[i] = h.coordinates[i].of(p[i])
	}
	return at
}

// observe processes one event.
func (h *history) observe(e *sdk.Event) error {
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.coordinates) {
			return fmt.Errorf("the point of trial %d has length %d; expected %d, one for each parameter", e.Trial,
				len(e.Point), len(h.coordinates))
		}
		h.add(e.Trial, h.locate(e.Point))
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

// follow processes an event of the trial at i. A trial counts when it first ends or pauses; later
// results replace earlier ones.
func (h *history) follow(i int, e *sdk.Event) {
	t := &h.trials[i]
	if len(e.Losses) > 0 {
		t.reported = true
		h.fidelity.Report(i, e.Iteration, slices.Clone(e.Losses))
	}
	switch e.Kind {
	case sdk.ResultReported:
		t.failed = false // it runs again
		if t.counted {
			h.count(i)
		}
	case sdk.TrialFailed, sdk.TrialCompleted:
		t.failed = e.Kind == sdk.TrialFailed || !t.reported // one that failed may have run again
		h.settle(i, e.Kind)
	case sdk.TrialPaused, sdk.TrialRemoved:
		h.settle(i, e.Kind)
	}
}

// forget drops suggestions for the trials from number on, which are requested again.
func (h *history) forget(number uint32) {
	h.forgetAsked(func(n uint32) bool { return n >= number })
}

// ask remembers a suggestion until its trial is added.
func (h *history) ask(number uint32, p space.Point) {
	h.asked = append(h.asked, asked{number, h.locate(p)})
}

func (h *history) forgetAsked(which func(uint32) bool) {
	h.asked = slices.DeleteFunc(h.asked, func(a asked) bool { return which(a.number) })
}

// add adds a trial. Trials are added in the order of their numbers, so earlier suggestions will not
// become trials.
func (h *history) add(number uint32, at []float64) {
	h.forgetAsked(func(n uint32) bool { return n <= number })
	if _, again := h.place[number]; again {
		return
	}
	h.place[number] = len(h.trials)
	h.pending = append(h.pending, len(h.trials))
	h.trials = append(h.trials, trial{number: number, at: at})
	h.fidelity.Add()
}

// settle removes a trial from the pending ones and counts it, if it has a result or failed, as one did that
// completed without a result. A trial removed before its first result is ignored.
func (h *history) settle(i int, kind sdk.EventKind) {
	if k := slices.Index(h.pending, i); k >= 0 {
		h.pending = slices.Delete(h.pending, k, k+1)
	}
	if !h.trials[i].reported && !h.trials[i].failed {
		return
	}
	if !h.trials[i].failed && h.fidelity.End(i, kind == sdk.TrialPaused) {
		h.recount()
	}
	h.count(i)
}

// recount ranks all trials again, because other losses are compared now.
func (h *history) recount() {
	for g := range h.branches {
		h.branches[g].ranking = newRanking(h.objectives)
	}
	h.finite = 0
	for i := range h.trials {
		if t := &h.trials[i]; t.counted {
			t.losses = nil
			h.count(i)
		}
	}
}

// count ranks a trial by the losses that are compared. A trial that was stopped before has none: it
// is one of the bad ones.
func (h *history) count(i int) {
	t, losses := &h.trials[i], h.compared(i)
	for g := range h.branches {
		b := &h.branches[g]
		if math.IsNaN(t.at[b.first]) {
			continue
		}
		if !t.counted {
			b.members.add(i, t.number)
		}
		if outcomes.Tally(t.losses) == 1 {
			b.ranking.remove(i, t.losses)
		}
		if outcomes.Tally(losses) == 1 {
			b.ranking.add(i, losses)
		}
	}
	h.finite += outcomes.Tally(losses) - outcomes.Tally(t.losses)
	t.counted, t.losses = true, losses
}

// compared returns the losses of a trial that can be compared with others, or nil.
func (h *history) compared(i int) []float64 {
	if h.trials[i].failed {
		return nil
	}
	return h.fidelity.Losses(i)
}

// waiting returns the indices of a branch's trials without a result; those of suggestions that are
// not trials yet come last.
func (h *history) waiting(first int) (places []int) {
	for _, i := range h.pending {
		if !math.IsNaN(h.at(i)[first]) {
			places = append(places, i)
		}
	}
	for k, a := range h.asked {
		if !math.IsNaN(a.at[first]) {
			places = append(places, len(h.trials)+k)
		}
	}
	return places
}

// at returns the point of the trial, or of the suggestion, at index i.
func (h *history) at(i int) []float64 {
	if i < len(h.trials) {
		return h.trials[i].at
	}
	return h.asked[i-len(h.trials)].at
}

// branch has the data of a group's models: its trials that count.
type branch struct {
	first   int // a parameter of these trials
	members members
	ranking ranking
	// good is the room of the last model of the good trials, and bad keeps that of the bad ones.
	good []float64
	bad  keeper
}

// A keeper keeps a mixture whose kernels all have the same width, since the next one has mostly the same kernels, and
// the room of the one before, which is too large to be allocated for each suggestion.
type keeper struct {
	width float64
	last  *mixture
	room  []float64
}

// next returns what create makes, given the last mixture, if it has the same width, and room.
func (k *keeper) next(width float64, create func(before *mixture, room []float64) *mixture) *mixture {
	before := k.last
	if width != k.width {
		before = nil
	}
	next := create(before, k.room)
	if k.room = nil; k.last != nil {
		k.room = k.last.room
	}
	k.last, k.width = next, width
	return next
}

func newBranch(first, objectives int) branch {
	return branch{first: first, ranking: newRanking(objectives)}
}

func newRanking(objectives int) ranking {
	if objectives > 1 {
		return &fronts{}
	}
	return &ladder{}
}

// ranking ranks trials with finite results. It may drop those that are far from the best.
type ranking interface {
	add(trial int, losses []float64)
	remove(trial int, losses []float64)
	// size is the number of added and not removed trials, including dropped ones.
	size() int
	// best returns the k best, best first, and the weight of each, 1 on average.
	best(k int) (trials []int, weights []float64)
}

// points returns the points at the indices.
func (h *history) points(places []int) [][]float64 {
	points := make([][]float64, len(places))
	for k, i := range places {
		points[k] = h.at(i)
	}
	return points
}
