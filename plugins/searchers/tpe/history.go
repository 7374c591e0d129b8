package tpe

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// trial is what is known of one.
type trial struct {
	number uint32
	// at is its point in coordinates.
	at []float64
	// last is its last result, nil without one.
	last []float64
	// losses is the result that counts, nil while none does.
	losses []float64
	// counted: it ended or paused once, and has its place in the groups.
	counted bool
}

// history is the trials, in the order in which they were added, and what the
// models are made of, kept up to date event by event. Trials are referred to by
// their place.
type history struct {
	coordinates []coordinate
	objectives  int
	// finite is how many trials have a finite result that counts.
	finite int
	place  map[uint32]int
	trials []trial
	// pending are the trials that run or wait, without a result that counts.
	pending []int
	// asked are suggestions that are not trials yet, which are pending too.
	asked []asked
	// branches has what each group's models are made of.
	branches []branch
}

// asked is a suggestion that is no trial yet.
type asked struct {
	number uint32
	at     []float64
}

func newHistory(coordinates []coordinate, groups []group, objectives int) *history {
	h := &history{coordinates: coordinates, objectives: objectives, place: map[uint32]int{}}
	for _, g := range groups {
		h.branches = append(h.branches, newBranch(g.first, objectives))
	}
	return h
}

// locate is a point in coordinates.
func (h *history) locate(p space.Point) []float64 {
	at := make([]float64, len(p))
	for i := range p {
		at[i] = h.coordinates[i].of(p[i])
	}
	return at
}

// observe takes one event.
func (h *history) observe(e *sdk.Event) error {
	if e.Kind == sdk.TrialAdded {
		if len(e.Point) != len(h.coordinates) {
			return fmt.Errorf("trial %d has %d values; the space has %d parameters", e.Trial, len(e.Point), len(h.coordinates))
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

// follow takes an event of the trial at i. A result counts from when the trial ends
// or pauses first; then later ones replace it.
func (h *history) follow(i int, e *sdk.Event) {
	t := &h.trials[i]
	if len(e.Losses) > 0 {
		t.last = slices.Clone(e.Losses)
	}
	switch e.Kind {
	case sdk.ResultReported:
		if t.losses != nil && len(e.Losses) > 0 {
			h.count(i, t.last)
		}
	case sdk.TrialPaused, sdk.TrialRemoved, sdk.TrialCompleted:
		h.settle(i, t.last)
	case sdk.TrialFailed:
		h.settle(i, []float64{math.Inf(1)})
	}
}

// forget drops suggestions for the trials from number on: they are asked for again.
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

// add adds a trial. Trials are added in the order of their numbers, so that no
// suggestion up to this one will become a trial.
func (h *history) add(number uint32, at []float64) {
	h.forgetAsked(func(n uint32) bool { return n <= number })
	if _, again := h.place[number]; again {
		return
	}
	h.place[number] = len(h.trials)
	h.pending = append(h.pending, len(h.trials))
	h.trials = append(h.trials, trial{number: number, at: at})
}

// settle takes a trial from the pending ones and counts its result, if it has one:
// a trial that was taken away before its first result says nothing.
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
	for g := range h.branches {
		b := &h.branches[g]
		if math.IsNaN(t.at[b.first]) {
			continue
		}
		if !t.counted {
			b.members.add(i, t.number)
		} else if outcomes.Finite(t.losses) {
			b.ranking.remove(i, t.losses)
		}
		if outcomes.Finite(losses) {
			b.ranking.add(i, losses)
		}
	}
	h.finite += outcomes.Tally(losses) - outcomes.Tally(t.losses)
	t.counted, t.losses = true, losses
}

// waiting are the places of the trials of a branch, asked ones included, that have
// no result; those of asked ones follow the trials'.
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

// at is the point of the trial, or of what was asked, at place i.
func (h *history) at(i int) []float64 {
	if i < len(h.trials) {
		return h.trials[i].at
	}
	return h.asked[i-len(h.trials)].at
}

// branch is what a group's models are made of: its trials that count.
type branch struct {
	first   int // a parameter that the trials have
	members members
	ranking ranking
}

func newBranch(first, objectives int) branch {
	b := branch{first: first, ranking: &ladder{}}
	if objectives > 1 {
		b.ranking = &fronts{}
	}
	return b
}

// ranking is trials with finite results. It may forget those that are far from the
// best.
type ranking interface {
	add(trial int, losses []float64)
	remove(trial int, losses []float64)
	// size is how many were added and not removed, forgotten ones included.
	size() int
	// best are the k best, best first, and the weight of each, 1 on average.
	best(k int) (trials []int, weights []float64)
}

// points are those at places.
func (h *history) points(places []int) [][]float64 {
	points := make([][]float64, len(places))
	for k, i := range places {
		points[k] = h.at(i)
	}
	return points
}
