// Package fidelity tells searchers which losses of trials can be compared, if trials end or pause
// at different iterations: the losses at one iteration, the level. It is the largest iteration that
// enough trials have reached, as in S. Falkner and others, BOHB, 2018; so it rises with the number
// of trials. A trial that ended before the level has no loss that can be compared.
//
// Trials also end early because nothing is left to train: some need fewer iterations than others.
// Their last losses are their values. Events do not tell these ends from a scheduler's, but the
// losses do: a scheduler stops trials that are worse than those that continue. So as long as trials
// that end early are hardly worse than the others at the same iteration, all last losses count.
package fidelity

import "slices"

const (
	// exact is the iteration up to which all results are kept. Of later ones a twentieth of the
	// iterations apart.
	exact = 40
	// recent is how many trials keep their results below the level.
	recent = 1000
	// An early end is compared with at most rivals trials that continued, the last ones, because a
	// scheduler's demands grow; fewer than fewest say nothing. judged is for how many early ends
	// that is remembered.
	fewest, rivals, judged = 5, 20, 64
	// From enoughEnds early ends on the mean share of the trials that continued and were better
	// decides: below unselected ends do not depend on losses, from selected on they do. In between
	// it stays as it was, so that it seldom changes.
	enoughEnds           = 20
	unselected, selected = 0.6, 0.7
)

// early is how many times longer than to the level the longest trial may have been trained, for the
// level to tell anything about the end.
const early = 9

// random is the share of suggestions that are drawn at random while trials are stopped early: a
// model that is wrong about what is stopped learns nothing of it, however many trials there are.
const random = 0.1

// Trials has the results of trials, which are referred to by their index in the order of addition.
type Trials struct {
	least  int // trials that must have reached the level
	trials []trial
	// ends has, in increasing order, the iterations at which trials ended or paused last.
	ends []end
	// final is the number of trials that ended without an iteration.
	final int
	// level is 0 before the first end with an iteration.
	level uint64
	// longest is the largest iteration of a result.
	longest uint64
	// shares has, for the last early ends, the share of better trials among those that continued.
	shares []float64
	// own: trials end when they need no more iterations, so that last losses count.
	own bool
}

type trial struct {
	at     []uint64 // iterations of the results that are kept
	losses [][]float64
	// last and final are those of the last result.
	last  uint64
	final []float64
	// ended: it has ended or paused at least once.
	ended bool
}

type end struct {
	iteration uint64
	trials    int
}

// New returns an empty list. The level is an iteration that at least so many trials have reached.
func New(least int) *Trials { return &Trials{least: least} }

// Add adds a trial.
func (t *Trials) Add() { t.trials = append(t.trials, trial{}) }

// Report adds a result of trial i. An iteration of 0 is unknown: then the losses are the trial's
// last ones, which can be compared with those at any level.
func (t *Trials) Report(i int, iteration uint64, losses []float64) {
	x := &t.trials[i]
	x.final = losses
	if iteration <= x.last {
		if n := len(x.at); n > 0 && iteration > 0 && x.at[n-1] == iteration {
			x.losses[n-1] = losses
		}
		return
	}
	if x.ended {
		t.move(x.last, iteration)
		if x.last == 0 {
			t.final--
		}
	}
	x.last, t.longest = iteration, max(t.longest, iteration)
	if t.keeps(x, iteration) {
		x.at, x.losses = append(x.at, iteration), append(x.losses, losses)
	}
}

// keeps reports whether the result at an iteration is kept.
func (t *Trials) keeps(x *trial, iteration uint64) bool {
	if iteration <= exact || len(x.at) == 0 || iteration >= x.at[len(x.at)-1]+iteration/20 {
		return true
	}
	_, found := t.find(iteration)
	return found
}

func (t *Trials) find(iteration uint64) (int, bool) {
	return slices.BinarySearchFunc(t.ends, iteration, func(e end, at uint64) int {
		switch {
		case e.iteration < at:
			return -1
		case e.iteration > at:
			return 1
		}
		return 0
	})
}

// move counts the end of a trial at another iteration; 0: none.
func (t *Trials) move(from, to uint64) {
	if k, found := t.find(from); found && from > 0 {
		if t.ends[k].trials--; t.ends[k].trials == 0 {
			t.ends = slices.Delete(t.ends, k, k+1)
		}
	}
	if to == 0 {
		return
	}
	k, found := t.find(to)
	if !found {
		t.ends = slices.Insert(t.ends, k, end{iteration: to})
	}
	t.ends[k].trials++
}

// End says that trial i has ended, or paused. It reports whether the losses of other trials that can
// be compared have changed.
func (t *Trials) End(i int, paused bool) (changed bool) {
	x := &t.trials[i]
	if !x.ended {
		x.ended = true
		t.move(0, x.last)
		if x.last == 0 {
			t.final++
		}
	}
	level, own := t.level, t.own
	if !paused {
		t.judge(x)
	}
	t.level = t.highest()
	t.trim(i - recent)
	return t.level != level || t.own != own
}

// highest returns the level: before enough trials have reached any iteration it is the smallest
// one.
func (t *Trials) highest() uint64 {
	reached := 0
	for _, e := range slices.Backward(t.ends) {
		if reached += e.trials; reached >= t.least {
			return e.iteration
		}
	}
	if len(t.ends) == 0 {
		return 0
	}
	return t.ends[0].iteration
}

// judge compares an end with trials that continued.
func (t *Trials) judge(x *trial) {
	if x.last == 0 || x.last == t.longest || len(x.final) == 0 {
		return
	}
	better, all := 0, 0
	for i := len(t.trials) - 1; i >= max(0, len(t.trials)-recent) && all < rivals; i-- {
		other := &t.trials[i]
		if other.last <= x.last {
			continue
		}
		if losses := other.upTo(x.last); losses != nil {
			if all++; losses[0] < x.final[0] {
				better++
			}
		}
	}
	if all < fewest {
		return
	}
	if len(t.shares) == judged {
		t.shares = t.shares[:copy(t.shares, t.shares[1:])]
	}
	t.shares = append(t.shares, float64(better)/float64(all))
	if len(t.shares) >= enoughEnds {
		share := mean(t.shares)
		t.own = share < unselected || t.own && share < selected
	}
}

func mean(values []float64) (sum float64) {
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// trim drops the results of an old trial that no later level needs: the level does not fall once
// enough trials have reached it.
func (t *Trials) trim(i int) {
	if i < 0 || t.level == 0 {
		return
	}
	x := &t.trials[i]
	if n := x.place(t.level); n > 0 {
		x.at, x.losses = slices.Delete(x.at, 0, n), slices.Delete(x.losses, 0, n)
	}
}

// place returns the index of the last kept result up to an iteration, or -1.
func (x *trial) place(iteration uint64) int {
	k, found := slices.BinarySearch(x.at, iteration)
	if found {
		return k
	}
	return k - 1
}

// upTo returns the losses of the last kept result up to an iteration, or nil.
func (x *trial) upTo(iteration uint64) []float64 {
	if k := x.place(iteration); k >= 0 {
		return x.losses[k]
	}
	return nil
}

// Losses returns the losses of trial i that can be compared with those of others, or nil.
func (t *Trials) Losses(i int) []float64 {
	x := &t.trials[i]
	switch {
	case len(x.final) == 0:
		return nil
	case x.last == 0, t.own, x.last == t.level:
		return x.final
	case x.last < t.level:
		return nil
	}
	if losses := x.upTo(t.level); losses != nil {
		return losses
	}
	return x.final // it first reported after the level
}

// Ended returns how many trials ended or paused with losses that can be compared, or failed, and
// how many were stopped before their losses could be compared.
func (t *Trials) Ended() (compared, stopped int) {
	compared = t.final
	for _, e := range t.ends {
		if e.iteration < t.level && !t.own {
			stopped += e.trials
		} else {
			compared += e.trials
		}
	}
	return compared, stopped
}

// Iterations returns the largest iteration of a result of trial i, 0 if it is unknown.
func (t *Trials) Iterations(i int) uint64 { return t.trials[i].last }

// Stopping reports whether a trial was stopped before its losses could be compared.
func (t *Trials) Stopping() bool {
	return !t.own && len(t.ends) > 0 && t.ends[0].iteration < t.level
}

// isEarly reports whether the level is so far from the longest training that a model of it would lead
// away from trials that start slowly. A scheduler ends most trials soon, so the level soon rises.
func (t *Trials) isEarly() bool { return t.level > 0 && !t.own && t.level*early < t.longest }

// Blind draws whether the model is left out for a suggestion: always while it is early, and for a
// share of the suggestions while trials are stopped.
func (t *Trials) Blind(rng interface{ Float64() float64 }) bool {
	return t.isEarly() || t.Stopping() && rng.Float64() < random
}
