package view

import (
	"encoding/json"
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
	x := Status{Name: s.Name, Dir: s.Place(), State: outcome.String(), Cause: why, Counts: map[core.State]int{},
		NeverStarted: m.NeverStarted(), Paused: m.Paused(), Grace: s.Config.StopGrace, Planned: Planned(m),
		Made:    int64(m.Trials()),
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
		x.Ending, x.Cause = ending.String(), why
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
		x.NoBest = NoValue(m, x.Objective.Metric)
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

// Begun counts the trials that have begun and not ended: they run, or wait to run again.
type Begun struct {
	Trials    int
	Resumable int // those of them that have a checkpoint to continue from
}

func begunTrials(m *core.Machine) (x Begun) {
	left := m.Count(core.Running) + m.Count(core.Pending)
	for no := core.TrialNo(m.Trials()); no > 0 && left > 0; no-- {
		state := m.State(no - 1)
		if state != core.Running && state != core.Pending {
			continue
		}
		left--
		if state == core.Pending && m.View(no-1).Attempt == 0 {
			continue
		}
		x.Trials++
		if len(m.Checkpoints(no-1)) > 0 {
			x.Resumable++
		}
	}
	return x
}

// Restarts describes how the started trials continue when the experiment is resumed; "" if there are none.
func (s *Status) Restarts() string {
	switch {
	case s.Begun.Trials == 0:
		return ""
	case s.Manual: // its worker keeps what it has learned
		return "continues after its last recorded iteration"
	case s.Begun.Resumable == 0:
		return "starts from the beginning: it has no checkpoint"
	case s.Begun.Resumable < s.Begun.Trials:
		return "starts from its last checkpoint, or from the beginning if it has none"
	}
	return "starts from its last checkpoint"
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

// Resumable reports whether no host runs the experiment, and one would have something to do.
func (e *Experiment) Resumable() (bool, error) {
	state, err := e.State()
	if err != nil {
		return false, err
	}
	return e.resumable(state)
}

func (e *Experiment) resumable(state string) (yes bool, err error) {
	if state == Running {
		return false, nil
	}
	failed := e.source.Look(func(s *State) { yes = s.continues() })
	if yes || failed != nil {
		return yes, failed
	}
	return e.Extended()
}

// continues reports whether the next host continues, with the settings that the last one had. One that has used up its
// time or its failures ends at once.
func (s *State) continues() bool {
	m := s.Machine
	outcome, _ := m.Outcome()
	b := s.Config.Budget
	spent := b.Time > 0 && m.Counted() >= int64(b.Time) ||
		b.TrialsFailed > 0 && m.Count(core.Errored) >= int(b.TrialsFailed)
	return m.GoesOn() && !(spent && outcome == core.Finished)
}

// Extended reports whether more trials were asked for than the last host knew of, and its searcher has more points.
func (e *Experiment) Extended() (yes bool, err error) {
	failed := e.source.Look(func(s *State) {
		was, now := s.Machine.Spec().Trials, s.Config.Trials
		yes = now != was && (now < 0 || now > was)
		if !yes {
			yes, err = s.moreTrials()
		}
		yes = yes && !s.Machine.SearchedOut()
	})
	return yes, errors.Join(failed, err)
}

// Manual reports whether workers train its trials.
func (e *Experiment) Manual() (yes bool) {
	err := e.source.Look(func(s *State) { yes = s.Machine.Spec().Manual })
	return yes && err == nil
}

// Resumer is what resumes an experiment, for messages: the command, with its directory as the user types it,
// or what has workers.
func Resumer(manual bool, dir string) string {
	if manual {
		return "`tunehost serve` or `tunehost asktell`"
	}
	return "`tunehost resume " + dir + "`"
}

// Retrier says what runs a failed trial of an experiment again that no host runs. A worker asks for one of its own.
func Retrier(manual bool, dir string, no core.TrialNo, fresh bool) string {
	flag := ""
	if fresh {
		flag = " --fresh"
	}
	if manual {
		return fmt.Sprintf("Retry in the dashboard of `tunehost serve` hands the trial out again, and so does "+
			"`tunehost retry %s %d%s` while `tunehost asktell` has the experiment", dir, no, flag)
	}
	return fmt.Sprintf("`tunehost resume %s --retry %d%s` runs the trial again", dir, no, flag)
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
		x.WasRunning = x.Counts[core.Running]
		failed := e.source.Look(func(s *State) {
			x.Leases.left(s)
			x.Pending, err = s.pending()
		})
		if err := errors.Join(failed, err); err != nil {
			return x, err
		}
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

// noted adds what the host has noted beside the record. It reports whether the host of an experiment that has ended
// is still there.
func (e *Experiment) noted(x *Status, now time.Time) (leaving bool) {
	if e.Dir.Path() == "" {
		return false
	}
	all := e.Dir.ReadUnreleased()
	if x.State != Running && x.Leases != nil && givenBack(all, e.Config.Executor.Name) {
		x.Leases = &Leases{Why: []string{}, Nodes: []string{}}
	}
	x.Leases = x.Leases.withUnreleased(all, e.Config.Executor.Name, now)
	if text := e.Leaving(x.State, now); text != "" {
		x.Leases.Waits, x.Waiting = waitsFor(all, now).Seconds(), text
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

// OutOfTime reports whether an experiment has used up its time budget: to continue it needs a larger
// one.
func (s *Status) OutOfTime() bool { return s.Budget > 0 && s.Elapsed-s.Uncounted >= s.Budget }

// OutOfFailures reports whether as many trials are in ERROR as the experiment allows: to continue it needs a larger
// limit, unless they run again.
func (s *Status) OutOfFailures() bool { return s.Failures > 0 && s.Counts[core.Errored] >= s.Failures }

// Limit is a budget that is used up.
type Limit struct {
	// Key is its key in the file, Name what it is called, More what a larger one gives.
	Key, Name, More string
	// Failed: it limits failed trials, which no longer count when they run again.
	Failed bool
}

// Set is what raises it on the command line.
func (l Limit) Set() string { return l.Key + "=LIMIT" }

// UsedUp are the budgets that must be larger before anything continues.
func (s *Status) UsedUp() (list []Limit) {
	if s.OutOfTime() {
		list = append(list, Limit{Key: "budget.time", Name: "time budget", More: "more time"})
	}
	if s.OutOfFailures() {
		list = append(list, Limit{"budget.trials_failed", "budget of failed trials", "a higher limit of failed trials",
			true})
	}
	return list
}

// HeldBudget is the key of the budget that has ended the experiment, and holds again when it continues: budget.when or
// budget.plateau; "" for another end. The budgets of time and of failures are [Status.UsedUp].
func (s *Status) HeldBudget() string {
	switch s.Cause.Kind {
	case core.CauseBudgetExpression:
		return "budget.when"
	case core.CauseBudgetPlateau:
		return "budget.plateau"
	}
	return ""
}

// OnceChanged says that a budget that has ended the experiment must be changed before it continues; "": none must.
func (s *Status) OnceChanged() string {
	if key := s.HeldBudget(); key != "" {
		return ", once " + key + " is changed: as it is, it ends the experiment again"
	}
	return ""
}

// Unmet reports whether the experiment has failed because no node can ever meet the request of its trials: it
// fails again unless the request or the nodes change.
func (s *Status) Unmet() bool { return s.State == core.Failed.String() && Unmet(s.Cause) }

// Unmet reports whether something failed because no node can ever meet a request.
func Unmet(why core.Cause) bool { return why.Is(core.CauseLeaseRefused) || why.Is(core.CauseNeverFits) }

// statusJSON is the shape that `status --json` promises; fields are added, never renamed.
type statusJSON struct {
	Name      string               `json:"name"`
	State     string               `json:"state"`
	Reason    *string              `json:"reason"`
	Cause     *causeJSON           `json:"cause"`
	Counts    map[string]int       `json:"counts"`
	Unstarted int                  `json:"never_started"`
	Paused    bool                 `json:"paused"`
	Ending    *string              `json:"ending"`
	Planned   int64                `json:"planned"`
	Exhausted bool                 `json:"exhausted,omitempty"`
	Best      *Ranked              `json:"best"`
	Front     int                  `json:"front,omitempty"`
	Resources map[string]usageJSON `json:"resources"`
	Elapsed   float64              `json:"elapsed_s"`
	// Left is there while there is an estimate.
	Left *float64 `json:"left_s,omitempty"`
	Dir  string   `json:"dir"`
	Host string   `json:"host,omitempty"`
	externalJSON
}

// externalJSON is the shape of External.
type externalJSON struct {
	Early int `json:"stopped_early"`
	// NotFinite says how many trials have ended with a value of an objective that is NaN or infinite.
	NotFinite string `json:"not_finite,omitempty"`
	// WasRunning is there while no host runs the experiment.
	WasRunning int       `json:"was_running,omitempty"`
	Leases     *Leases   `json:"leases,omitempty"`
	Overdue    []Overdue `json:"overdue,omitempty"`
	Entries    uint64    `json:"entries"`
	Resumable  bool      `json:"resumable"`
	Restarts   string    `json:"restarts,omitempty"`
	Added      int64     `json:"added,omitempty"`
	Pending    []Pending `json:"pending,omitempty"`
	Waiting    string    `json:"waiting,omitempty"`
	OnHold     bool      `json:"on_hold,omitempty"`
	ByWorkers  bool      `json:"by_workers,omitempty"`
	// Unsteerable is the reason, and only in the answers of a server.
	Unsteerable string `json:"unsteerable,omitempty"`
}

type usageJSON struct {
	Used  resource.Amount `json:"used"`
	Total resource.Amount `json:"total"`
}

// MarshalJSON writes the stable shape of `status --json`.
func (s Status) MarshalJSON() ([]byte, error) {
	counts := map[string]int{}
	for state, n := range s.Counts {
		counts[state.String()] = n
	}
	best := s.Best
	if s.Several {
		best = nil // the front replaces the best trial
	}
	restarts := ""
	if s.State == Interrupted {
		restarts = s.Restarts()
	}
	resources := map[string]usageJSON{}
	for _, u := range s.Resources {
		resources[u.Name] = usageJSON{u.Used, u.Total}
	}
	return json.Marshal(statusJSON{s.Name, s.State, orNull(s.Reason), causeShape(s.Cause), counts, s.NeverStarted,
		s.Paused, orNull(s.Ending), s.Planned, s.Exhausted && s.Made < s.Planned, best, s.Front, resources,
		s.Elapsed.Seconds(), s.Left.orNull(), s.Dir, s.Host,
		externalJSON{s.StoppedEarly, s.NotFinite, s.WasRunning, s.Leases, s.Overdue,
			s.Entries, s.Resumable, restarts, s.Added, s.Pending, s.Waiting, s.OnHold,
			s.Manual, s.Unsteerable}})
}
