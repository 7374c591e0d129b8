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

// State is running while a host is at work, else how it ended. An experiment whose host
// died is interrupted, unless it was ending for good: then nothing in it goes on.
func (e *Experiment) State() string {
	outcome, _ := e.Machine().Outcome()
	switch {
	case outcome != 0:
		return outcome.String()
	case e.alive || e.runsOn != "":
		return Running
	case e.Machine().EndsForGood():
		ending, _ := e.Machine().Ending()
		return ending.String()
	}
	return Interrupted
}

// Status is where an experiment stands.
type Status struct {
	Name, State string
	// Cause is why it ended, or is ending; Reason is that for people.
	Cause  core.Cause
	Reason string
	Counts map[core.State]int
	// NeverStarted is how many of the TERMINATED were ended before they had ever
	// started.
	NeverStarted int
	// Paused: the user has paused it, or all that is left of it; nothing goes on
	// before the user says so, whether a host runs it or not.
	Paused bool
	// Ending is what it is about to become while its trials end; "" while nothing
	// ends it.
	Ending string
	// Planned is how many trials were asked for, grid axes multiplied;
	// negative: no bound.
	Planned int64
	// Best is nil when no trial has a value yet, and with several
	// objectives.
	Best *Ranked
	// Front is how many trials are on the Pareto front, with several
	// objectives.
	Front     int
	Resources []resource.Usage
	// Elapsed is the running time over all hosts (B-026).
	Elapsed time.Duration
	Dir     string
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

// Status returns it as of now.
func (e *Experiment) Status(now time.Time) (Status, error) {
	m := e.Machine()
	s := Status{Name: e.Name(), State: e.State(), Counts: map[core.State]int{}, Planned: Planned(m), Dir: e.Place(), Elapsed: time.Duration(m.Now()), Host: e.runsOn}
	for _, state := range States {
		s.Counts[state] = m.Count(state)
	}
	s.NeverStarted, s.Paused = m.NeverStarted(), m.Paused()
	_, s.Cause = m.Outcome()
	switch ending, why := m.Ending(); {
	case s.State == Running && ending != 0:
		s.Ending, s.Cause = ending.String(), why
	case s.State == ending.String():
		s.Cause = why
	}
	s.Reason = s.Cause.String()
	s.Resources = m.Usage()
	switch s.State {
	case Running:
		if wall := wall(e.replay.History, m.Now()); !wall.IsZero() {
			s.Elapsed += max(now.Sub(wall), 0)
		}
	default:
		for i := range s.Resources {
			s.Resources[i].Used = resource.Amount{}
		}
	}
	if len(e.config.Objectives) > 1 {
		s.Front = len(Front(m, e.Objectives(), Last))
		return s, nil
	}
	best, ok, err := e.Best(Query{})
	if ok {
		s.Best = &best
	}
	return s, err
}

// OutOfTime says whether an experiment has used up its time budget, where it has one: to go on
// it needs a larger one.
func OutOfTime(used, budget time.Duration) bool { return budget > 0 && used >= budget }

// MarshalJSON writes the stable shape of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	counts := map[string]int{}
	for state, n := range s.Counts {
		counts[state.String()] = n
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
		s.Planned, s.Best, resources, s.Elapsed.Seconds(), s.Dir, s.Host})
}
