package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// play is how trials go on a stage: the data of checks. Misfortunes are in percent.
type play struct {
	Space string `json:"space"`
	// Trials are added in all, while one of the Workers is free.
	Trials  int `json:"trials"`
	Workers int `json:"workers"`
	// Length is the iterations of a trial that nobody stops, Step the most
	// that lie between two of its results.
	Length uint64 `json:"length"`
	Step   uint64 `json:"step"`
	// Burst is the most steps of trials that are told in one call.
	Burst int `json:"burst"`
	// Planned: the number of trials is part of the problem. SearchEnds: the
	// end of the search is told.
	Planned    bool `json:"planned"`
	SearchEnds bool `json:"search_ends"`
	// SaveEvery: there are checkpoints at multiples of it.
	SaveEvery uint64 `json:"save_every"`
	// NaN is how many trials report no finite loss, Diverge how many stop
	// doing so on the way.
	NaN     uint64 `json:"nan"`
	Diverge uint64 `json:"diverge"`
	// Fail, Requeue and Early are how many iterations end in an error, in an
	// error that is retried, or are the trial's last; Hold how many end with
	// a pause by the user.
	Fail    uint64 `json:"fail"`
	Requeue uint64 `json:"requeue"`
	Early   uint64 `json:"early"`
	Hold    uint64 `json:"hold"`
	// Remove is how many paused trials are removed by the user, Never how many
	// trials never start.
	Remove uint64 `json:"remove"`
	Never  uint64 `json:"never"`
	// Retold: iterations that are repeated are told again. Blind: so are
	// results that need no decision.
	Retold bool `json:"retold"`
	Blind  bool `json:"blind"`
	// Objectives is how many there are; 0: one.
	Objectives int `json:"objectives"`
	// Gaps: the numbers of events have gaps.
	Gaps bool   `json:"gaps"`
	Salt uint64 `json:"salt"`
}

// stage plays the host for a scheduler: workers run trials, and what it decides is
// carried out. What it does that no scheduler may do is noted.
type stage struct {
	*subject
	play
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
	paused  int // how many pauses were decided
}

// act is one call: what was told, and the answer.
type act struct {
	events []sdk.Event
	answer sdk.Decisions
}

// breach is a rule that was broken.
type breach struct{ rule, want, saw string }

// state is what a trial is doing, as a bit.
type state uint8

const (
	pending state = 1 << iota
	running
	pausing
	paused
	ended
)

// actor is a trial.
type actor struct {
	no        uint32
	point     space.Point
	state     state
	was       state // all states since the last call
	attempt   uint32
	iteration uint64
	told      uint64 // iterations that were told
	until     uint64 // no decision is needed before it
	promised  uint64 // the same, since it last started
	undecided int
	trained   uint64 // iterations in all
	saved     []uint64
	losses    []float64
	held      bool // by the user
	restart   bool // goes on when its pause is done
	nan       bool
}

// stage opens the scheduler for a play.
func (s *subject) stage(w play) (*stage, error) {
	st, err := s.setUp(w)
	if err != nil {
		return nil, err
	}
	st.scheduler, err = s.scheduler(st.problem, nil)
	if err == nil {
		st.traits = st.scheduler.Traits()
	}
	return st, err
}

func (s *subject) setUp(w play) (*stage, error) {
	if w.Space == "" {
		w.Space = "plain"
	}
	p, err := problem(w.Space)
	if err != nil {
		return nil, err
	}
	for i := 1; i < w.Objectives; i++ {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: fmt.Sprintf("loss%d", i), Mode: sdk.Min})
	}
	if w.Planned {
		p.Trials = w.Trials
	}
	w.Workers, w.Burst, w.Step = max(1, w.Workers), max(1, w.Burst), max(1, w.Step)
	p.Concurrency = w.Workers
	return &stage{subject: s, play: w, problem: p, seen: map[sdk.CommandKind]int{}}, nil
}

// chance draws a number below n, by how far the play is.
func (st *stage) chance(n int) int {
	st.steps++
	return int(hash(29, st.Salt, st.steps) % uint64(n))
}

// befalls says whether a misfortune of so many percent does.
func (st *stage) befalls(percent, kind, a, b uint64) bool {
	return hash(31, st.Salt, kind, a, b)%100 < percent
}

// run plays until nothing is left that could happen.
func (st *stage) run() error {
	for {
		st.fill()
		if st.idle() && !st.wake() {
			return st.curtain()
		}
		for range 1 + st.chance(st.Burst) {
			st.advance()
		}
		if err := st.tell(); err != nil {
			return err
		}
		if limit := 50 * (uint64(st.Trials)*st.Length + 100); st.steps > limit {
			st.breach("ends", "an end of the experiment", "it goes on after %d steps", limit)
			return nil
		}
		if err := st.ctx.Err(); err != nil {
			return err
		}
	}
}

// idle: nothing runs, waits to run, or is still to be told.
func (st *stage) idle() bool {
	return len(st.queue) == 0 && len(st.untold) == 0 && st.busy() == 0
}

func (st *stage) busy() (n int) {
	for _, a := range st.actors {
		if a.state == running || a.state == pausing {
			n++
		}
	}
	return n
}

// wake lets a trial go on that the user had paused.
func (st *stage) wake() bool {
	for _, a := range st.actors {
		if a.state == paused && a.held {
			a.held = false
			st.enqueue(a)
			return true
		}
	}
	return false
}

// curtain is the end of the experiment: no trial may be left paused.
func (st *stage) curtain() error {
	var left []uint32
	for _, a := range st.actors {
		if a.state == paused {
			left = append(left, a.no)
		}
	}
	if len(left) > 0 {
		st.breach("ends", "every paused trial to be resumed or stopped, for nothing else happens", "trials %v are paused for ever", left[:min(len(left), 10)])
	}
	st.event(sdk.Event{Kind: sdk.ExperimentEnded})
	return st.tell()
}

func (st *stage) breach(rule, want, saw string, args ...any) {
	st.broken = append(st.broken, breach{rule, want, fmt.Sprintf(saw, args...)})
}

// event notes what is to be told.
func (st *stage) event(e sdk.Event) {
	e.Number = numbered(st.history, st.Gaps)
	st.history = append(st.history, e)
	st.untold = append(st.untold, e)
}

func (st *stage) about(a *actor, kind sdk.EventKind) {
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

func (st *stage) enqueue(a *actor) {
	a.enter(pending)
	st.queue = append(st.queue, a)
}

// fill gives free workers something to do.
func (st *stage) fill() {
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

func (st *stage) add() {
	no := uint32(len(st.actors))
	p, err := st.problem.Space.Sample(space.NewRand(hash(37, st.Salt, uint64(no))))
	if err != nil {
		p = make(space.Point, len(st.problem.Space.Params)) // no space of the suite's is that tight
	}
	a := &actor{no: no, point: p, nan: st.befalls(st.NaN, 1, uint64(no), 0)}
	st.actors = append(st.actors, a)
	a.enter(pending)
	st.about(a, sdk.TrialAdded)
	if st.befalls(st.Never, 2, uint64(no), 0) {
		st.end(a, []sdk.EventKind{sdk.TrialRemoved, sdk.TrialFailed}[no%2])
	} else {
		st.queue = append(st.queue, a)
	}
	if len(st.actors) == st.Trials && st.SearchEnds {
		st.event(sdk.Event{Kind: sdk.SearchEnded})
	}
}

func (st *stage) begin(a *actor) {
	a.attempt++
	a.undecided, a.promised, a.restart = 0, 0, false
	a.enter(running)
	st.about(a, sdk.TrialStarted)
}

func (st *stage) end(a *actor, kind sdk.EventKind) {
	a.enter(ended)
	st.about(a, kind)
}

// advance lets one trial do a step.
func (st *stage) advance() {
	var ready []*actor
	for _, a := range st.actors {
		if a.state == pausing || a.state == running && a.undecided <= max(0, st.traits.RunAhead) {
			ready = append(ready, a)
		}
	}
	if len(ready) == 0 {
		return
	}
	a := ready[st.chance(len(ready))]
	if a.state == pausing {
		st.pauseDone(a)
		return
	}
	st.train(a)
}

// pauseDone: the trial has saved and left its worker.
func (st *stage) pauseDone(a *actor) {
	st.save(a)
	a.enter(paused)
	st.about(a, sdk.TrialPaused)
	switch {
	case a.restart:
		st.enqueue(a)
	case st.befalls(st.Remove, 3, uint64(a.no), a.iteration):
		st.end(a, sdk.TrialRemoved)
	}
}

func (st *stage) save(a *actor) {
	if a.iteration > 0 && !slices.Contains(a.saved, a.iteration) {
		a.saved = append(a.saved, a.iteration)
		st.about(a, sdk.CheckpointSaved)
	}
}

// train is one iteration, or what comes instead.
func (st *stage) train(a *actor) {
	no, turn := uint64(a.no), a.trained
	switch {
	case st.befalls(st.Fail, 4, no, turn):
		st.end(a, sdk.TrialFailed)
	case st.befalls(st.Requeue, 5, no, turn):
		a.trained++ // or it would meet the same fate again
		st.requeue(a)
	case st.befalls(st.Early, 6, no, turn):
		st.end(a, sdk.TrialCompleted)
	case st.befalls(st.Hold, 7, no, turn):
		a.trained++
		a.held = true
		a.enter(pausing)
	default:
		st.report(a)
	}
}

// requeue sets the trial back to its last checkpoint.
func (st *stage) requeue(a *actor) {
	a.iteration = 0
	if n := len(a.saved); n > 0 {
		a.iteration = a.saved[n-1]
	}
	if st.befalls(50, 8, uint64(a.no), a.trained) { // hosts need not tell
		st.about(a, sdk.TrialRequeued)
	}
	st.enqueue(a)
}

func (st *stage) report(a *actor) {
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
		st.about(a, sdk.ResultReported)
	}
	a.told = max(a.told, a.iteration)
	if st.SaveEvery > 0 && a.iteration%st.SaveEvery == 0 {
		st.save(a)
	}
	if last {
		st.end(a, sdk.TrialCompleted)
	}
}

func (st *stage) losses(a *actor) []float64 {
	out := make([]float64, len(st.problem.Objectives))
	diverged := st.befalls(st.Diverge, 9, uint64(a.no), 0) && a.iteration > st.Length/4
	for i := range out {
		out[i] = math.Inf(1)
		if !a.nan && !diverged {
			out[i] = loss(st.problem.Space, a.point, st.Salt+uint64(i), a.no, a.iteration)
		}
	}
	return out
}
