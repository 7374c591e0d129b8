package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// schedulerPlan is the data of a check with a schedulerHost. Probabilities of failures are in percent.
type schedulerPlan struct {
	Space string `json:"space"`
	// Trials are added in total, whenever one of the Workers is free.
	Trials  int `json:"trials"`
	Workers int `json:"workers"`
	// Length is the number of iterations of a trial that nothing stops, Step the maximum distance
	// between two of its results.
	Length uint64 `json:"length"`
	Step   uint64 `json:"step"`
	// Burst is the maximum number of steps that are sent in one call.
	Burst int `json:"burst"`
	// Planned: the number of trials is part of the problem. SearchEnds: the end of the search is
	// sent.
	Planned    bool `json:"planned"`
	SearchEnds bool `json:"search_ends"`
	// SaveEvery: there are checkpoints at multiples of it.
	SaveEvery uint64 `json:"save_every"`
	// NaN is the share of trials without finite losses, Diverge the share that stop reporting
	// finite ones on the way.
	NaN     uint64 `json:"nan"`
	Diverge uint64 `json:"diverge"`
	earlyEnds
	meddling
	// Never is the share of trials that never start.
	Never uint64 `json:"never"`
	// Retold: repeated iterations are sent again. Blind: so are results that need no decision.
	Retold bool `json:"retold"`
	Blind  bool `json:"blind"`
	// Objectives is the number of objectives; 0: one.
	Objectives int `json:"objectives"`
	// Gaps: the numbers of events have gaps.
	Gaps bool   `json:"gaps"`
	Salt uint64 `json:"salt"`
}

// earlyEnds are the shares of iterations that end in an error, in an error that is retried, or are the
// trial's last.
type earlyEnds struct {
	Fail    uint64 `json:"fail"`
	Requeue uint64 `json:"requeue"`
	Early   uint64 `json:"early"`
}

// meddling is what a user does to trials, in percent.
type meddling struct {
	// Hold is the share of iterations that end with a pause by the user.
	Hold uint64 `json:"hold"`
	// Crossed is the share of results after which the user pauses the trial and resumes it before the
	// decision comes.
	Crossed uint64 `json:"crossed"`
	// Remove is the share of paused trials that the user removes.
	Remove uint64 `json:"remove"`
}

// A schedulerHost simulates the host for a scheduler: workers run trials, and decisions are executed.
// Violations of rules are recorded.
type schedulerHost struct {
	*subject
	schedulerPlan
	problem   sdk.Problem
	scheduler plugin.Scheduler
	traits    sdk.Traits

	acts    []act
	history []sdk.Event
	untold  []sdk.Event
	actors  []*actor
	queue   []*actor
	steps   uint64
	broken  []breach
	seen    map[sdk.CommandKind]int
	paused  int // number of decided pauses
}

// An act is one call: the events and the answer.
type act struct {
	events []sdk.Event
	answer sdk.Decisions
}

// A breach is a violated rule.
type breach struct{ rule, want, saw string }

// state is the state of a trial, as a bit.
type state uint8

const (
	pending state = 1 << iota
	running
	pausing
	paused
	ended
)

// An actor is a trial.
type actor struct {
	no        uint32
	point     space.Point
	state     state
	was       state // all states since the last call
	attempt   uint32
	iteration uint64
	told      uint64 // iterations that were sent
	until     uint64 // no decision is needed before it
	promised  uint64 // the same, since it last started
	undecided int
	trained   uint64 // iterations in total
	saved     []uint64
	losses    []float64
	held      bool   // by the user
	aside     uint64 // the number of its last pause
	restart   bool   // continues when its pause is done
	crossed   bool   // the user resumes it when its pause is done
	nan       bool
}

// stage opens the scheduler for a play, if it promises what is needed as far as that is known.
func (s *subject) stage(w schedulerPlan, needs ...need[promises]) (*schedulerHost, error) {
	st, err := s.setUp(w)
	if err != nil {
		return nil, err
	}
	opening := s.opening(about(st.Space, st.problem))
	if err := needed(s, opening, needs); err != nil {
		return nil, err
	}
	if st.scheduler, err = s.scheduler(st.problem, nil); err != nil {
		return nil, err
	}
	st.traits = st.scheduler.Traits()
	return st, declares(s, opening, promises{st.traits, st.scheduler.Snapshots()}, needs)
}

func (s *subject) setUp(w schedulerPlan) (*schedulerHost, error) {
	if w.Space == "" {
		w.Space = "plain"
	}
	p, err := problemOf(w.Space, w.Objectives)
	if err != nil {
		return nil, err
	}
	if w.Planned {
		p.Trials = w.Trials
	}
	w.Workers, w.Burst, w.Step = max(1, w.Workers), max(1, w.Burst), max(1, w.Step)
	p.Concurrency = w.Workers
	return &schedulerHost{subject: s, schedulerPlan: w, problem: p, seen: map[sdk.CommandKind]int{}}, nil
}

// drawBelow draws a number below n, depending on the progress of the check.
func (st *schedulerHost) drawBelow(n int) int {
	st.steps++
	return int(hash(29, st.Salt, st.steps) % uint64(n))
}

// happens reports whether a failure with this probability happens.
func (st *schedulerHost) happens(percent, kind, a, b uint64) bool {
	return hash(31, st.Salt, kind, a, b)%100 < percent
}

// run plays until nothing more can happen.
func (st *schedulerHost) run() error {
	for {
		st.fillWorkers()
		if st.idle() && !st.wake() {
			return st.checkEnd()
		}
		for range 1 + st.drawBelow(st.Burst) {
			st.advance()
		}
		if err := st.sendEvents(); err != nil {
			return err
		}
		if limit := 50 * (uint64(st.Trials)*st.Length + 100); st.steps > limit {
			st.breach("ends", "an end of the experiment", "it continues after %d steps", limit)
			return nil
		}
		if err := st.ctx.Err(); err != nil {
			return err
		}
	}
}

// idle reports that nothing runs, waits to run, or must still be sent.
func (st *schedulerHost) idle() bool {
	return len(st.queue) == 0 && len(st.untold) == 0 && st.busy() == 0
}

func (st *schedulerHost) busy() (n int) {
	for _, a := range st.actors {
		if a.state == running || a.state == pausing {
			n++
		}
	}
	return n
}

// wake lets a trial continue that the user had paused.
func (st *schedulerHost) wake() bool {
	for _, a := range st.actors {
		if a.state == paused && a.held {
			a.held = false
			st.enqueue(a)
			return true
		}
	}
	return false
}

// checkEnd checks the end of the experiment: no trial may be left paused.
func (st *schedulerHost) checkEnd() error {
	var left []uint32
	for _, a := range st.actors {
		if a.state == paused {
			left = append(left, a.no)
		}
	}
	if len(left) > 0 {
		st.breach("ends", "every paused trial to be resumed or stopped, for nothing else happens",
			"trials %v are paused for ever", left[:min(len(left), 10)])
	}
	st.event(sdk.Event{Kind: sdk.ExperimentEnded})
	return st.sendEvents()
}

func (st *schedulerHost) breach(rule, want, saw string, args ...any) {
	st.broken = append(st.broken, breach{rule, want, fmt.Sprintf(saw, args...)})
}

// event records an event to be sent.
func (st *schedulerHost) event(e sdk.Event) {
	e.Number = numbered(st.history, st.Gaps)
	st.history = append(st.history, e)
	st.untold = append(st.untold, e)
}

func (st *schedulerHost) trialEvent(a *actor, kind sdk.EventKind) {
	e := sdk.Event{Kind: kind, Trial: a.no, Attempt: a.attempt, Iteration: a.iteration}
	switch kind {
	case sdk.TrialAdded:
		e.Point = slices.Clone(a.point)
	case sdk.ResultReported, sdk.TrialCompleted, sdk.TrialRemoved:
		e.Losses, e.Seconds = slices.Clone(a.losses), float64(a.trained)
	}
	st.event(e)
}

func (a *actor) enter(s state) {
	a.state = s
	a.was |= s
}

func (st *schedulerHost) enqueue(a *actor) {
	a.enter(pending)
	st.queue = append(st.queue, a)
}

// fillWorkers gives free workers something to do.
func (st *schedulerHost) fillWorkers() {
	for st.busy() < st.Workers {
		switch {
		case len(st.queue) > 0:
			a := st.queue[0]
			st.queue = st.queue[1:]
			if a.state == pending {
				st.begin(a)
			}
		case len(st.actors) < st.Trials:
			st.add()
		default:
			return
		}
	}
}

func (st *schedulerHost) add() {
	no := uint32(len(st.actors))
	p, err := st.problem.Space.Sample(space.NewRand(hash(37, st.Salt, uint64(no))))
	if err != nil {
		p = make(space.Point, len(st.problem.Space.Params)) // no space of the suite has such strict constraints
	}
	a := &actor{no: no, point: p, nan: st.happens(st.NaN, 1, uint64(no), 0)}
	st.actors = append(st.actors, a)
	a.enter(pending)
	st.trialEvent(a, sdk.TrialAdded)
	if st.happens(st.Never, 2, uint64(no), 0) {
		st.end(a, []sdk.EventKind{sdk.TrialRemoved, sdk.TrialFailed}[no%2])
	} else {
		st.queue = append(st.queue, a)
	}
	if len(st.actors) == st.Trials && st.SearchEnds {
		st.event(sdk.Event{Kind: sdk.SearchEnded})
	}
}

func (st *schedulerHost) begin(a *actor) {
	a.attempt++
	a.undecided, a.promised, a.restart = 0, 0, false
	a.enter(running)
	st.trialEvent(a, sdk.TrialStarted)
}

func (st *schedulerHost) end(a *actor, kind sdk.EventKind) {
	a.enter(ended)
	st.trialEvent(a, kind)
}

// advance lets one trial take a step.
func (st *schedulerHost) advance() {
	var ready []*actor
	for _, a := range st.actors {
		if a.state == pausing || a.state == running && a.undecided <= max(0, st.traits.RunAhead) {
			ready = append(ready, a)
		}
	}
	if len(ready) == 0 {
		return
	}
	a := ready[st.drawBelow(len(ready))]
	if a.state == pausing {
		st.pauseDone(a)
		return
	}
	st.train(a)
}

// pauseDone: the trial has saved and left its worker.
func (st *schedulerHost) pauseDone(a *actor) {
	st.save(a)
	st.setAside(a)
	switch {
	case a.crossed:
		a.crossed = false
		st.enqueue(a)
		st.fillWorkers()
	case a.restart:
		st.enqueue(a)
	case st.happens(st.Remove, 3, uint64(a.no), a.iteration):
		st.end(a, sdk.TrialRemoved)
	}
}

func (st *schedulerHost) setAside(a *actor) {
	a.enter(paused)
	st.trialEvent(a, sdk.TrialPaused)
	a.aside = st.history[len(st.history)-1].Number
}

func (st *schedulerHost) save(a *actor) {
	if a.iteration > 0 && !slices.Contains(a.saved, a.iteration) {
		a.saved = append(a.saved, a.iteration)
		st.trialEvent(a, sdk.CheckpointSaved)
	}
}

// train does one iteration, or what happens instead.
func (st *schedulerHost) train(a *actor) {
	no, turn := uint64(a.no), a.trained
	switch {
	case st.happens(st.Fail, 4, no, turn):
		st.end(a, sdk.TrialFailed)
	case st.happens(st.Requeue, 5, no, turn):
		a.trained++ // or it would have the same fate again
		st.requeue(a)
	case st.happens(st.Early, 6, no, turn):
		st.end(a, sdk.TrialCompleted)
	case st.happens(st.Hold, 7, no, turn):
		a.trained++
		a.held = true
		a.enter(pausing)
	default:
		st.report(a)
	}
}

// requeue sets the trial back to its last checkpoint.
func (st *schedulerHost) requeue(a *actor) {
	a.iteration = 0
	if n := len(a.saved); n > 0 {
		a.iteration = a.saved[n-1]
	}
	if st.happens(50, 8, uint64(a.no), a.trained) { // hosts may omit the event
		st.trialEvent(a, sdk.TrialRequeued)
	}
	st.enqueue(a)
}

func (st *schedulerHost) report(a *actor) {
	step := 1 + hash(41, st.Salt, uint64(a.no), a.iteration)%st.Step
	a.iteration += step
	a.trained += step
	a.losses = st.losses(a)
	last := a.iteration >= st.Length
	if last && a.no%2 == 0 { // the last result was marked as the last
		st.end(a, sdk.TrialCompleted)
		return
	}
	if (a.iteration > a.told || st.Retold) && (a.iteration >= a.until || st.Blind) {
		a.undecided++
		st.trialEvent(a, sdk.ResultReported)
	}
	a.told = max(a.told, a.iteration)
	if st.SaveEvery > 0 && a.iteration%st.SaveEvery == 0 {
		st.save(a)
	}
	switch {
	case last:
		st.end(a, sdk.TrialCompleted)
	case a.undecided > 0 && st.happens(st.Crossed, 10, uint64(a.no), a.trained):
		a.crossed = true
		a.enter(pausing)
	}
}

func (st *schedulerHost) losses(a *actor) []float64 {
	out := make([]float64, len(st.problem.Objectives))
	diverged := st.happens(st.Diverge, 9, uint64(a.no), 0) && a.iteration > st.Length/4
	for i := range out {
		out[i] = math.Inf(1)
		if !a.nan && !diverged {
			out[i] = loss(st.problem.Space, a.point, st.Salt+uint64(i), a.no, a.iteration)
		}
	}
	return out
}
