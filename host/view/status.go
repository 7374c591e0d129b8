package view

import (
	"encoding/json"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// States of an experiment. The others are core's outcomes.
const (
	Running     = "running"
	Interrupted = "interrupted"
)

// Status is where an experiment stands.
type Status struct {
	Name  string
	Dir   string
	State string // Running, Interrupted, or a core's outcome
	// Cause is why it ended, or is ending; Reason is that for people.
	Cause  core.Cause
	Reason string
	Counts map[core.State]int
	// NeverStarted is how many of the TERMINATED were ended before they had ever
	// started.
	NeverStarted int
	// Resumable is how many of the RUNNING have a checkpoint, from which they go on.
	Resumable int
	// Paused: the user has paused it, or all that is left of it; nothing goes on
	// before the user says so, whether a host runs it or not.
	Paused bool
	// Ending is what it is about to become while its trials end, for which they have
	// Grace; "" while nothing ends it.
	Ending string
	Grace  time.Duration
	// Hint is what the user can do now; "" where that is nothing special.
	Hint string
	// Planned is how many trials were asked for, grid axes multiplied;
	// negative: no bound. Made is how many there are.
	Planned, Made int64
	// Objective is the first one, Several whether there are more.
	Objective core.Objective
	Several   bool
	// Best is by the first objective; nil when no trial has a value yet, and NoBest says
	// why. Reported: some trial has reported that objective.
	Best     *Ranked
	NoBest   string
	Reported bool
	// Front is how many trials are on the Pareto front, with several
	// objectives.
	Front     int
	Resources []resource.Usage
	// Elapsed is the running time over all hosts (B-026), Budget what it may be; 0: no
	// bound.
	Elapsed, Budget time.Duration
	// Host is the machine that runs it, where that is another one.
	Host string
}

// States are those of trials, in the order of a trial's life.
var States = []core.State{core.Pending, core.Running, core.Paused, core.Terminated, core.Errored}

// Planned is how many trials there will be: those of the file and those that the
// user has added; -1: no bound.
func Planned(m *core.Machine) int64 {
	if m.Spec().Trials < 0 {
		return -1
	}
	_, runs := m.Runs(0)
	return (m.Spec().Trials-m.Planned())*int64(runs) + int64(m.Trials())
}

// Standing is how the machine stands, as of its last event, without what takes long: files
// are not looked at, and of several objectives Best is by the first.
func (s *State) Standing() Status {
	m := s.Machine
	outcome, why := m.Outcome()
	x := Status{Name: s.Name, Dir: s.Place(), State: outcome.String(), Cause: why, Counts: map[core.State]int{},
		NeverStarted: m.NeverStarted(), Paused: m.Paused(), Grace: s.Config.StopGrace, Planned: Planned(m), Made: int64(m.Trials()),
		Objective: s.Objectives()[0], Several: len(s.Config.Objectives) > 1, Resources: m.Usage(), Elapsed: time.Duration(m.Now()),
		Budget: s.Config.Budget.Time, Host: s.runsOn}
	x.Reported = m.Metric(x.Objective.Metric) != 0
	for _, state := range States {
		x.Counts[state] = m.Count(state)
	}
	x.Resumable = resumable(m)
	if ending, why := m.Ending(); ending != 0 && outcome == 0 {
		x.Ending, x.Cause = ending.String(), why
	}
	x.Reason = x.Cause.String()
	if no, value, ok := bestOf(m, x.Objective, Last); ok {
		x.Best = &Ranked{Trial: s.Trial(no), Value: value.value, Scope: Last}
	} else {
		x.NoBest = NoValue(m, x.Objective.Metric)
	}
	return x
}

// resumable counts the running trials that have a checkpoint.
func resumable(m *core.Machine) (n int) {
	running := m.Count(core.Running)
	for no := core.TrialNo(m.Trials()); no > 0 && running > 0; no-- {
		if m.State(no-1) != core.Running {
			continue
		}
		running--
		if len(m.Checkpoints(no-1)) > 0 {
			n++
		}
	}
	return n
}

// Restarts says of the trials that run from where they start when a host goes on; "" where
// none runs.
func (s *Status) Restarts() string {
	switch running := s.Counts[core.Running]; {
	case running == 0:
		return ""
	case s.Resumable == 0:
		return "starts from the beginning: it has no checkpoint"
	case s.Resumable < running:
		return "starts from its last checkpoint, or from the beginning where it has none"
	}
	return "starts from its last checkpoint"
}

// leave is what becomes of an experiment whose host has gone before it ended: it is
// interrupted, unless it was ending for good, since then nothing in it goes on.
func (s *Status) leave() {
	if s.Ending == core.StoppedByUser.String() || s.Ending == core.Finished.String() {
		s.State = s.Ending
	} else {
		s.State, s.Cause, s.Reason = Interrupted, core.Cause{}, ""
	}
	s.Ending = ""
}

// State is running while a host is at work, else how it ended. An experiment whose host
// died is interrupted, unless it was ending for good: then nothing in it goes on.
func (e *Experiment) State() (state string, err error) {
	err = e.source.Look(func(s *State) {
		outcome, _ := s.Machine.Outcome()
		ending, _ := s.Machine.Ending()
		x := Status{State: outcome.String(), Ending: ending.String()}
		if outcome == 0 && !e.Running() {
			x.leave()
		}
		state = x.State
	})
	return state, err
}

// Status returns it as of now.
func (e *Experiment) Status(now time.Time) (x Status, err error) {
	var since time.Time
	err = e.source.Look(func(s *State) { x, since = s.Standing(), s.wall(s.Machine.Now()) })
	if err != nil {
		return x, err
	}
	switch {
	case x.State == Running && !e.Running():
		x.leave()
	case x.State == Running && !since.IsZero():
		x.Elapsed += max(now.Sub(since), 0)
	}
	for i := range x.Resources {
		if x.State != Running {
			x.Resources[i].Used = resource.Amount{}
		}
	}
	if x.Several {
		all, err := e.candidates(e.Objectives(), Last)
		x.Front = len(frontOf(all))
		return x, err
	}
	if x.Best != nil {
		best, ok, err := e.Best(Query{})
		if ok {
			x.Best = &best
		}
		return x, err
	}
	return x, nil
}

// OutOfTime says whether an experiment has used up its time budget, where it has one: to go on
// it needs a larger one.
func (s *Status) OutOfTime() bool { return s.Budget > 0 && s.Elapsed >= s.Budget }

// MarshalJSON writes the stable shape of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	counts := map[string]int{}
	for state, n := range s.Counts {
		counts[state.String()] = n
	}
	best := s.Best
	if s.Several {
		best = nil // the front is what is best
	}
	type usage struct {
		Used  resource.Amount `json:"used"`
		Total resource.Amount `json:"total"`
	}
	resources := map[string]usage{}
	for _, u := range s.Resources {
		resources[u.Name] = usage{u.Used, u.Total}
	}
	return json.Marshal(struct {
		Name      string           `json:"name"`
		State     string           `json:"state"`
		Reason    *string          `json:"reason"`
		Cause     *causeJSON       `json:"cause"`
		Counts    map[string]int   `json:"counts"`
		Unstarted int              `json:"never_started"`
		Paused    bool             `json:"paused"`
		Ending    *string          `json:"ending"`
		Planned   int64            `json:"planned"`
		Best      *Ranked          `json:"best"`
		Resources map[string]usage `json:"resources"`
		Elapsed   float64          `json:"elapsed_s"`
		Dir       string           `json:"dir"`
		Host      string           `json:"host,omitempty"`
	}{s.Name, s.State, orNull(s.Reason), causeShape(s.Cause), counts, s.NeverStarted, s.Paused, orNull(s.Ending),
		s.Planned, best, resources, s.Elapsed.Seconds(), s.Dir, s.Host})
}
