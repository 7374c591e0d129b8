package schedtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Sim simulates the host: workers run trials, the scheduler receives the events, and its
// decisions are executed.
type Sim struct {
	// Trials is the number of trials, created when a worker is free.
	Trials, Workers int
	// Length is the number of iterations of a trial that nothing stops.
	Length uint64
	// Burst is the maximum number of results in one call.
	Burst int
	// Loss returns the reported loss of a trial.
	Loss func(trial uint32, iteration uint64) float64
	// Fails reports whether the trial fails instead of reporting; nil: never.
	Fails func(trial uint32, iteration uint64) bool
	// Step returns the number of iterations between the trial's reports; nil: 1.
	Step func(trial uint32) uint64
	// Pick chooses one of n: which running trial is next, and so on.
	Pick func(n int) int
	// Limit ends the simulation after that many iterations in total; 0: unlimited. Exploiting
	// trials may go back as often as they advance.
	Limit int
	// Point returns the trial's assignment; nil: none.
	Point func(trial uint32) space.Point
	// SearchEnds: SearchEnded is sent after the last trial was added.
	SearchEnds bool
}

// An End says how a trial ended.
type End struct {
	Iteration uint64 // of its last result
	Reason    string // the reason of the scheduler, "complete" or "failed"
}

// A History is the record of a simulation.
type History struct {
	Events []sdk.Event
	// Out has all decisions and commands, in order.
	Out sdk.Decisions
	// Ends has the trials that ended.
	Ends map[uint32]End
	// Iterations is the total number of trained iterations.
	Iterations int
	// Sizes are the requests that trials received, in order.
	Sizes []Size
}

// A Size is a trial's new resource request.
type Size struct {
	Trial     uint32
	Resources string
}

// Run runs until nothing is running or waiting. An error describes a forbidden action of the
// scheduler. A trial missing in History.Ends was left paused.
func (s Sim) Run(scheduler sdk.Scheduler) (History, error) {
	r := &run{Sim: s, scheduler: scheduler, history: History{Ends: map[uint32]End{}}}
	for {
		r.fillWorkers()
		if r.over() {
			return r.history, nil
		}
		for range 1 + s.Pick(max(1, s.Burst)) {
			r.advance()
		}
		if err := r.tell(); err != nil {
			return r.history, err
		}
	}
}

type run struct {
	Sim
	scheduler sdk.Scheduler
	history   History
	trials    []simulated
	running   []uint32
	queue     []uint32
	untold    []sdk.Event
}

type simulated struct {
	iteration, told, until uint64
	saved                  []uint64 // iterations of its checkpoints
	paused                 bool
}

func (r *run) over() bool {
	return len(r.running) == 0 && len(r.untold) == 0 || r.Limit > 0 && r.history.Iterations >= r.Limit
}

func (r *run) event(kind sdk.EventKind, trial uint32) *sdk.Event {
	r.history.Events = append(r.history.Events, sdk.Event{Number: uint64(len(r.history.Events)) + 1, Kind: kind,
		Trial: trial})
	return &r.history.Events[len(r.history.Events)-1]
}

// fillWorkers gives free workers something to do: paused trials first.
func (r *run) fillWorkers() {
	for len(r.running) < r.Workers {
		switch {
		case len(r.queue) > 0:
			r.start(r.queue[0])
			r.queue = r.queue[1:]
		case len(r.trials) < r.Trials:
			r.add()
		default:
			return
		}
	}
}

func (r *run) add() {
	trial := uint32(len(r.trials))
	r.trials = append(r.trials, simulated{})
	e := r.event(sdk.TrialAdded, trial)
	if r.Point != nil {
		e.Point = r.Point(trial)
	}
	r.push(*e)
	r.start(trial)
	if r.SearchEnds && len(r.trials) == r.Trials {
		r.push(*r.event(sdk.SearchEnded, 0))
	}
}

func (r *run) start(trial uint32) {
	r.push(*r.event(sdk.TrialStarted, trial))
	r.running = append(r.running, trial)
}

func (r *run) push(e sdk.Event) { r.untold = append(r.untold, e) }

// advance lets one running trial do one iteration.
func (r *run) advance() {
	if len(r.running) == 0 {
		return
	}
	trial := r.running[r.Pick(len(r.running))]
	t := &r.trials[trial]
	r.history.Iterations++
	if r.Fails != nil && r.Fails(trial, t.iteration+1) {
		r.end(trial, sdk.TrialFailed, "failed")
		return
	}
	t.iteration += r.step(trial)
	r.report(trial, t)
	if t.iteration >= r.Length {
		r.end(trial, sdk.TrialCompleted, "complete")
	}
}

func (r *run) step(trial uint32) uint64 {
	if r.Step == nil {
		return 1
	}
	return r.Step(trial)
}

// report sends the result unless it needs no decision or was sent before.
func (r *run) report(trial uint32, t *simulated) {
	if t.iteration <= t.told || t.iteration < t.until {
		return
	}
	t.told = t.iteration
	e := r.event(sdk.ResultReported, trial)
	e.Iteration, e.Losses = t.iteration, []float64{r.Loss(trial, t.iteration)}
	r.push(*e)
}

func (r *run) end(trial uint32, kind sdk.EventKind, reason string) {
	r.freeWorker(trial)
	t := &r.trials[trial]
	r.history.Ends[trial] = End{Iteration: t.iteration, Reason: reason}
	e := r.event(kind, trial)
	if kind == sdk.TrialCompleted && t.iteration > 0 {
		e.Losses = []float64{r.Loss(trial, t.iteration)}
	}
	r.push(*e)
}

// freeWorker frees the trial's worker.
func (r *run) freeWorker(trial uint32) {
	if i := slices.Index(r.running, trial); i >= 0 {
		r.running = slices.Delete(r.running, i, i+1)
	}
}

func (r *run) tell() error {
	batch := r.untold
	r.untold = nil
	out, err := r.scheduler.Decide(context.Background(), batch)
	if err != nil {
		return err
	}
	r.history.Out.Decisions = append(r.history.Out.Decisions, out.Decisions...)
	r.history.Out.Commands = append(r.history.Out.Commands, out.Commands...)
	for _, d := range out.Decisions {
		if err := r.decided(d, batch); err != nil {
			return err
		}
	}
	for _, c := range out.Commands {
		if err := r.commanded(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) decided(d sdk.Decision, batch []sdk.Event) error {
	i := slices.IndexFunc(batch, func(e sdk.Event) bool { return e.Number == d.Event && e.Kind == sdk.ResultReported })
	if i < 0 {
		return fmt.Errorf("a decision on event %d, which is not a result of this batch", d.Event)
	}
	if d.Verdict != sdk.Continue && d.Reason == "" {
		return fmt.Errorf("no reason for %v on event %d", d.Verdict, d.Event)
	}
	if e := batch[i]; slices.Contains(r.running, e.Trial) {
		r.apply(d, e)
	}
	return nil
}

func (r *run) apply(d sdk.Decision, e sdk.Event) {
	t := &r.trials[e.Trial]
	switch d.Verdict {
	case sdk.Stop:
		t.iteration = e.Iteration
		r.end(e.Trial, sdk.TrialCompleted, d.Reason)
	case sdk.Pause:
		r.freeWorker(e.Trial)
		t.iteration, t.saved, t.paused = e.Iteration, append(t.saved, e.Iteration), true
		saved := r.event(sdk.CheckpointSaved, e.Trial)
		saved.Iteration = e.Iteration
		r.push(*saved)
		r.push(*r.event(sdk.TrialPaused, e.Trial))
	default:
		t.until = d.Until
	}
}

func (r *run) commanded(c sdk.Command) error {
	t := &r.trials[c.Trial]
	if !t.paused {
		return fmt.Errorf("command %d for trial %d, which is not paused", c.Kind, c.Trial)
	}
	if c.Kind == sdk.Resize {
		r.history.Sizes = append(r.history.Sizes, Size{c.Trial, string(c.Resources)})
		return nil
	}
	t.paused = false
	switch c.Kind {
	case sdk.StopTrial:
		r.end(c.Trial, sdk.TrialRemoved, c.Reason)
		return nil
	case sdk.Exploit:
		saved := r.trials[c.Donor].saved
		if !slices.Contains(saved, c.Iteration) || c.Donor == c.Trial && c.Point == nil {
			return fmt.Errorf("trial %d exploits %d@%d, which has its checkpoints at %v", c.Trial, c.Donor, c.Iteration,
				saved)
		}
		*t = simulated{iteration: c.Iteration, told: min(t.told, c.Iteration), saved: []uint64{c.Iteration}}
	}
	r.queue = append(r.queue, c.Trial)
	return nil
}
