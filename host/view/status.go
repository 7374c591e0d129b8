package view

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/storage"
)

// States of an experiment. The others are core's outcomes.
const (
	Running     = "running"
	Interrupted = "interrupted"
)

// Status is the status of an experiment.
type Status struct {
	Name  string
	Dir   string
	State string // Running, Interrupted, or a core's outcome
	// Cause is why it ended, or is ending; Reason is its text for people. A searcher that has no more points is a
	// Reason without a Cause.
	Cause  core.Cause
	Reason string
	Counts map[core.State]int
	// NeverStarted is how many of the TERMINATED ended before they ever started.
	NeverStarted int
	// Begun counts the trials that have begun and not ended.
	Begun Begun
	// Paused says that the user has paused it, or all that is left of it: nothing continues before the
	// user says so, with or without a host.
	Paused bool
	// Ending is the state that it will have when its trials have ended, for which they have Grace; "" if
	// nothing ends it.
	Ending string
	Grace  time.Duration
	// Hint is what the user can do now; "" for nothing special.
	Hint string
	// Planned is how many trials there will be: those asked for, multiplied by the grid, those added, and at least
	// Made; negative: no limit. Made is how many there are.
	Planned, Made int64
	Quality
	Resources []resource.Usage
	External
	Spent
	// Host is the other machine that runs it, or "".
	Host string
}

// Spent is the part of a status about time.
type Spent struct {
	// Elapsed is the running time over all hosts (B-026), Budget its limit; 0: none.
	Elapsed, Budget time.Duration
	// Uncounted is the part of Elapsed that does not count for the budget: [core.Machine.Counted].
	Uncounted time.Duration
	// Failures is how many trials may end in ERROR (budget.trials_failed); 0: no limit.
	Failures int
}

// Quality is the part of a status about the objectives.
type Quality struct {
	// Objective is the first one; Several says whether there are more.
	Objective core.Objective
	Several   bool
	// Best is by the first objective. It is nil if no trial has a value yet, and NoBest says why. Reported
	// says that some trial has reported the objective.
	Best     *Ranked
	NoBest   string
	Reported bool
	// Front is how many trials are on the Pareto front, with several objectives.
	Front int
}

// External is the part of a status that depends on more than the state of the trials: on other programs, on the record,
// and on each single trial.
type External struct {
	// StoppedEarly is how many of the TERMINATED a scheduler, a rule, the user or the end of the experiment has
	// ended before their own end.
	StoppedEarly int
	// NotFinite says of an objective how many trials have ended with NaN or an infinite value, or that no result is
	// finite; "" if there is nothing to say.
	NotFinite string
	// WasRunning is how many are RUNNING in the record and do not run, because no host runs the experiment.
	WasRunning int
	// Entries is the number of the last entry of the record: it grows with whatever happens.
	Entries uint64
	// Resumable says that no host runs it, and that one would have something to do.
	Resumable bool
	// Leases are the leases that the experiment holds; nil if trials run on this machine.
	Leases *Leases
	// Overdue are the plugins that have not answered for long.
	Overdue []Overdue
	owed    []owed
	// Pending are the settings that the next host will read.
	Pending []Pending
	// Waiting is what a running experiment waits for, or the host of one that has ended; else "".
	Waiting string
	// Left is how long a running experiment will still run.
	Left Left
	// Added is how many suggestions the user has added to those that the file plans.
	Added int64
	// OnHold says that the user has paused it as a whole: no trial continues on its own then. Status.Paused also says
	// that each trial that is left was paused on its own.
	OnHold bool
	// Unsteerable is why the server that answers cannot steer it; "": it can, or no server was asked.
	Unsteerable string
	// Manual says that workers, which may be anywhere, train its trials.
	Manual bool
	// Exhausted says that the searcher has no more points, so that the rest of those planned cannot be made.
	Exhausted bool
}

// States are the states of trials, in the order of a trial's life.
var States = []core.State{core.Pending, core.Running, core.Paused, core.Terminated, core.Errored}

// Planned returns the total number of trials, including those that the user has added, and those that exist beyond the
// number that is planned now; -1: no limit.
func Planned(m *core.Machine) int64 {
	if m.Spec().Trials < 0 {
		return -1
	}
	_, runs := m.Runs(0)
	return max(m.Spec().Trials-m.Planned(), 0)*int64(runs) + int64(m.Trials())
}

// fewTrials is how many are quickly compared in several objectives.
const fewTrials = 1000

// CurrentStatus returns the machine's status as of its last event, without what takes long: it does not
// look at files, of several objectives Best is by the first, and Front is 0 where there are many trials.
func (s *State) CurrentStatus() Status {
	m := s.Machine
	outcome, why := m.Outcome()
	x := Status{Name: s.Name, Dir: s.Place(), State: outcome.String(), Cause: s.Named(why),
		Counts: map[core.State]int{}, NeverStarted: m.NeverStarted(), Paused: m.Paused(),
		Grace: s.Config.StopGrace, Planned: Planned(m), Made: int64(m.Trials()),
		Quality: Quality{Objective: s.Objectives()[0], Several: len(s.Config.Objectives) > 1}, Resources: m.Usage(),
		Spent: Spent{Elapsed: time.Duration(m.Now()), Budget: time.Duration(m.Spec().Budget.TimeNS),
			Uncounted: time.Duration(m.Now() - m.Counted()), Failures: int(m.Spec().Budget.TrialsFailed)},
		Host: s.runsOn,
		External: External{Entries: s.Entries(), Added: Added(m), Waiting: s.waiting(), owed: s.owed(),
			OnHold: m.OnHold(), Manual: m.Spec().Manual, Exhausted: m.SearchedOut()}}
	x.Reported = m.Metric(x.Objective.Metric) != 0
	for _, state := range States {
		x.Counts[state] = m.Count(state)
	}
	x.Leases = leases(m)
	if at := m.LeaseRetry(); at > 0 {
		x.Leases.RetryAt = s.wall(at)
	}
	x.Begun = begunTrials(m)
	if ending, why := m.Ending(); ending != 0 && outcome == 0 {
		x.Ending, x.Cause = ending.String(), s.Named(why)
	}
	x.Reason = x.Cause.String()
	if outcome == core.Finished && x.Cause.Is(core.CauseNone) && x.Exhausted && x.Made < x.Planned {
		x.Reason = fmt.Sprintf("searcher %s has no more points: %d of %d trials were made", s.Config.Searcher.Name,
			x.Made, x.Planned)
	}
	x.Left = s.timeLeft(&x)
	if x.Several && m.Trials() <= fewTrials {
		x.Front = len(front(m, s.Objectives(), Last))
	}
	best := s.standing.find(m, x.Objective)
	x.StoppedEarly = s.standing.stoppedEarly(m)
	if best.ok {
		x.Best = &Ranked{Trial: s.Trial(best.no), Value: best.value, Scope: Last,
			MeanOf: s.meanOf(best.no, x.Objective)}
	} else {
		x.NoBest = noValue(m, x.Objective.Metric)
	}
	if x.NotFinite = s.standing.unranked.text(m); x.NotFinite == "" && !best.ok {
		x.NotFinite = NonFinite(m)
	}
	return x
}

// waiting says what a running experiment waits for.
func (s *State) waiting() string {
	m := s.Machine
	outcome, _ := m.Outcome()
	ended := m.Count(core.Terminated) + m.Count(core.Errored) + m.Count(core.Paused)
	misfit, waits := m.Misfit()
	switch {
	case outcome != 0 || m.Closing() || m.Paused():
		return ""
	case waits && misfit.HasTrial:
		return fmt.Sprintf("trial %d waits until there is more, and what is behind it waits, too: %s", misfit.Trial,
			misfit.Why)
	case waits:
		return "no trial can start until there is more: " + misfit.Why
	case m.Count(core.Running) > 0:
		return ""
	case !m.Spec().Manual && m.Waits() && m.Count(core.Pending) == 0 && m.Quiescent():
		return "no trial runs until searcher " + s.Config.Searcher.Name + " has a suggestion"
	case !m.Spec().Manual:
		return ""
	case ended > 0 || begunTrials(m).Trials > 0:
		return "no worker trains a trial"
	}
	return "no worker has asked yet"
}

// Fates says how the TERMINATED trials ended: "12 completed, 48 stopped early"; "" if all completed.
func (s *Status) Fates() string {
	var parts []string
	if early := s.StoppedEarly; early > 0 {
		parts = append(parts, fmt.Sprintf("%d completed", s.Counts[core.Terminated]-early-s.NeverStarted),
			fmt.Sprintf("%d stopped early", early))
	}
	if s.NeverStarted > 0 {
		parts = append(parts, fmt.Sprintf("%d never started", s.NeverStarted))
	}
	return strings.Join(parts, ", ")
}

// markInterrupted sets the state of an experiment whose host is gone before the end: it is interrupted, unless
// it was ending for good, since then nothing in it continues.
func (s *Status) markInterrupted() {
	if s.Ending == core.StoppedByUser.String() || s.Ending == core.Finished.String() {
		s.State = s.Ending
	} else {
		s.State, s.Cause, s.Reason = Interrupted, core.Cause{}, ""
	}
	s.Ending, s.Left = "", Left{}
}

// State is running while a host runs it, else its outcome. An experiment whose host died is
// interrupted, unless it was ending for good: then nothing in it continues.
func (e *Experiment) State() (state string, err error) {
	err = e.source.Look(func(s *State) {
		outcome, _ := s.Machine.Outcome()
		ending, _ := s.Machine.Ending()
		x := Status{State: outcome.String(), Ending: ending.String()}
		if outcome == 0 && !e.Running() {
			x.markInterrupted()
		}
		state = x.State
	})
	return state, err
}

// Manual reports whether workers train its trials.
func (e *Experiment) Manual() (yes bool) {
	err := e.source.Look(func(s *State) { yes = s.Machine.Spec().Manual })
	return yes && err == nil
}

// LookAt calls f with its machine, which f only reads.
func (e *Experiment) LookAt(f func(*core.Machine)) error {
	return e.source.Look(func(s *State) { f(s.Machine) })
}

// Status returns it as of now.
func (e *Experiment) Status(now time.Time) (x Status, err error) {
	var since time.Time
	err = e.source.Look(func(s *State) {
		x, since = s.CurrentStatus(), s.wall(s.Machine.Now())
	})
	if err != nil {
		return x, err
	}
	switch {
	case x.State == Running && !e.Running():
		x.markInterrupted()
	case x.State == Running && !since.IsZero():
		x.pass(x.Elapsed + max(now.Sub(since), 0))
	}
	if x.State != Running {
		x.Waiting = ""
	}
	leaving := e.noted(&x, now)
	if x.Resumable, err = e.resumable(x.State); err != nil {
		return x, err
	}
	x.Resumable = x.Resumable && !leaving
	if x.State != Running {
		if err := e.rest(&x); err != nil {
			return x, err
		}
	}
	return x, e.rank(&x)
}

// rest replaces what only a running host has: trials that run, and resources in use.
func (e *Experiment) rest(x *Status) (err error) {
	x.WasRunning = x.Counts[core.Running]
	for i := range x.Resources {
		x.Resources[i].Used = resource.Amount{}
	}
	failed := e.source.Look(func(s *State) {
		x.Leases.left(s)
		x.Pending, err = s.pending()
	})
	return errors.Join(failed, err)
}

// rank adds the size of the Pareto front, or the best trial as `tunehost best` has it.
func (e *Experiment) rank(x *Status) error {
	if x.Several {
		all, err := e.candidates(e.Objectives(), Last)
		x.Front = len(frontOf(all))
		return err
	}
	if x.Best == nil {
		return nil
	}
	best, ok, err := e.Best(Query{})
	if ok {
		x.Best = &best
	}
	return err
}

// noted adds what the host has noted beside the record. It reports whether the host of an experiment that has ended
// is still there.
func (e *Experiment) noted(x *Status, now time.Time) (leaving bool) {
	if e.Dir.Path() == "" {
		return false
	}
	if x.State != Running && e.copied() {
		if x.Leases != nil {
			x.Leases = &Leases{Why: []string{}, Nodes: []string{}}
		}
		x.lacks(e.Dir.Lacks())
		return false
	}
	all := e.Dir.ReadUnreleased()
	if x.State != Running && x.Leases != nil && givenBack(all, e.Config.Executor.Name) {
		x.Leases = &Leases{Why: []string{}, Nodes: []string{}}
	}
	x.Leases = x.Leases.withUnreleased(all, e.Config.Executor.Name, now)
	if text := e.Leaving(x.State, now); text != "" {
		x.Waiting = text
		if x.Leases != nil {
			x.Leases.Waits = waitsFor(all, now).Seconds()
		}
		return true
	}
	x.lacks(e.Dir.Lacks())
	return false
}

// lacks says what the disk lacks, while the host waits for it: for how long, nobody knows.
func (s *Status) lacks(l storage.Lack) {
	if text := l.Waits(); s.State == Running && text != "" {
		s.Waiting, s.Left = text, Left{}
	}
}

// Leaving says what the host of an experiment in a state that is not [Running] still waits for; "": it has ended, or
// is about to.
func (e *Experiment) Leaving(state string, now time.Time) string {
	if state == Running || !e.Running() {
		return ""
	}
	return e.Dir.Leaving(now)
}

// Unmet reports whether the experiment has failed because no node can ever meet the request of its trials: it
// fails again unless the request or the nodes change.
func (s *Status) Unmet() bool { return s.State == core.Failed.String() && Unmet(s.Cause) }

// Unmet reports whether something failed because no node can ever meet a request.
func Unmet(why core.Cause) bool { return why.Is(core.CauseLeaseRefused) || why.Is(core.CauseNeverFits) }
