package core

import (
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// View is the visible state of a trial. Params is shared with the machine and read-only.
type View struct {
	Number   TrialNo
	State    State
	Attempt  uint32
	Failures uint32
	// Results is how many results it has reported itself, as far as they count.
	Results uint32
	// Iteration is that of its last own result, and Params, a JSON object, are what that was measured
	// with. Before its first result they are what it starts with.
	Iteration uint64
	Params    []byte
	// At is where its training is: at Iteration, or at that of the checkpoint from which it continues in
	// another stretch that has no result yet.
	At uint64
	// Since is the first attempt of the present stretch: results of earlier attempts do not change.
	Since uint32
	// Cause is why it ended, is paused or was requeued.
	Cause Cause
	// Started and Ended are running times in nanoseconds; 0 before the event.
	Started, Ended int64
	// TrainNS is the training time over all attempts.
	TrainNS int64
	// Checkpoint is the newest that is not known to be unloadable; its ID is 0 for none.
	Checkpoint CheckpointRef
	// Own is the newest such checkpoint that it has made itself in the stretch of its last own result; its
	// ID is 0 for none.
	Own CheckpointRef
	// Saving says that a checkpoint is in progress, Stopping that the attempt was told to end, Pausing
	// that it will be paused then.
	Saving, Stopping, Pausing bool
	// NeverStarted says that it ended before it ever started. It is TERMINATED, and nothing of it was
	// trained.
	NeverStarted bool
	// Held says that the user paused it; only the user can resume it.
	Held bool
}

// Reason returns the cause as text for people.
func (v View) Reason() string { return v.Cause.String() }

// Told returns the last iteration of a trial, in its present stretch, that the searcher and the scheduler may have
// been told. It is later than the trial's own iteration while a restarted trial repeats results, and after its end
// if it did not repeat all of them.
func (m *Machine) Told(no TrialNo) uint64 { return m.trial(no).told }

// Trials returns how many trials there are.
func (m *Machine) Trials() int { return m.trials.len }

// View returns the visible state of a trial, which must exist.
func (m *Machine) View(no TrialNo) View {
	t := m.trial(no)
	v := View{Number: no, State: t.state, Attempt: t.attempt, Failures: t.failures, Results: t.results, At: t.iteration,
		Cause: m.causeOf(t), Started: t.started, Ended: t.ended, TrainNS: m.trainingTime(t),
		NeverStarted: m.neverStarted(t), Held: t.held != notHeld}
	m.viewStretch(&v)
	if i := m.newest(no); i >= 0 {
		v.Checkpoint = m.ckpts[no][i].ref
	}
	if t.live != 0 {
		l := &m.lives[t.live-1]
		v.Saving, v.Stopping, v.Pausing = l.saving > 0, l.intent != noIntent, t.state == Running && l.pausing()
	}
	return v
}

// viewStretch adds the values that represent the trial.
func (m *Machine) viewStretch(v *View) {
	s := m.known(v.Number)
	v.Iteration, v.Params, v.Since = s.iteration, m.params.at(s.params), m.Since(v.Number)
	through := m.trial(v.Number).lastCkpt
	if c := m.earlier[v.Number]; c != nil {
		if s.attempt != c.attempt {
			through = c.saved
		}
		for _, x := range c.past {
			v.Results += x.results
		}
	}
	v.Own = m.newestMade(v.Number, s.saved, through)
}

// Since is View.Since alone.
func (m *Machine) Since(no TrialNo) uint32 {
	if c := m.earlier[no]; c != nil {
		return c.attempt
	}
	return 1
}

// newestMade returns the newest checkpoint that a trial has made with an ID in a range.
func (m *Machine) newestMade(no TrialNo, after, through uint32) CheckpointRef {
	list := m.ckpts[no]
	for i := len(list) - 1; i >= 0; i-- {
		ref := list[i].ref
		if own := ref.Trial == no && after < ref.ID && ref.ID <= through; !list[i].bad && (own || !m.since(RulesV2)) {
			return ref
		}
	}
	return CheckpointRef{}
}

// Params returns the JSON object of the parameters that a trial trains with, or will train with; it is
// read-only.
func (m *Machine) Params(no TrialNo) []byte { return m.params.at(m.trial(no).params) }

// FirstParams are the parameters that the trial was created with; a scheduler
// may have changed them since.
func (m *Machine) FirstParams(no TrialNo) []byte {
	if p, ok := m.first[no]; ok {
		return m.params.at(p)
	}
	return m.Params(no)
}

// From is the checkpoint that an attempt continues from that starts now; its ID is 0
// for none.
func (m *Machine) From(no TrialNo) CheckpointRef { return m.restorePoint(no) }

// Request is what a trial asks for.
func (m *Machine) Request(no TrialNo) resource.Request { return m.request(no) }

// State returns a trial's state; 0 for a trial that does not exist.
func (m *Machine) State(no TrialNo) State {
	if !m.exists(no) {
		return 0
	}
	return m.trial(no).state
}

// Summary returns the summary of a metric in the stretch that the trial is known by, and
// whether it was reported there.
func (m *Machine) Summary(no TrialNo, id MetricID) (stat.Summary, bool) {
	return m.summaryIn(m.knownCells(no), id)
}

// EachSummary calls f for each metric of the stretch that the trial is known by.
func (m *Machine) EachSummary(no TrialNo, f func(MetricID, stat.Summary)) {
	m.eachIn(m.knownCells(no), f)
}

// Summarizes reports whether EachSummary passes exactly these metrics, in this order.
func (m *Machine) Summarizes(no TrialNo, list []Metric) bool {
	n := 0
	for at := m.knownCells(no); at != 0; at = m.cell(at).next {
		c := m.cell(at)
		if m.valuesIn(c) == 0 {
			continue
		}
		if n == len(list) || list[n].ID != c.id {
			return false
		}
		n++
	}
	return n == len(list)
}

// TrainNS is the training time of a trial over all attempts.
func (m *Machine) TrainNS(no TrialNo) int64 { return m.trainingTime(m.trial(no)) }

// TimeTold reports whether the caller has told all of the training time of a trial.
func (m *Machine) TimeTold(no TrialNo) bool {
	t := m.trial(no)
	return t.timed && !t.measured
}

// SpentNS is the training time of a trial's attempts before the one that runs.
func (m *Machine) SpentNS(no TrialNo) int64 { return m.trial(no).spent }

// Objectives are the IDs of the objectives' metrics; 0 for one that was not
// reported yet. Callers must not change them.
func (m *Machine) Objectives() []MetricID { return m.objectives }

// Metric returns the ID of a metric's name; 0 if it was not reported yet.
func (m *Machine) Metric(name string) MetricID { return m.metricIDs[name] }

// MetricName returns the name that an ID stands for; "" if it has no name.
func (m *Machine) MetricName(id MetricID) string {
	if int(id) >= len(m.metricNames) {
		return ""
	}
	return m.metricNames[id]
}

// Metrics is how many metrics have names; their IDs are 1 to it.
func (m *Machine) Metrics() int { return len(m.metricNames) - 1 }

// Count returns how many trials are in a state.
func (m *Machine) Count(s State) int { return m.counts[s] }

// Revived is how often a trial that had ended was made to run again. What is known of the trials that have ended holds
// until it changes.
func (m *Machine) Revived() uint64 { return m.revived }

// NeverStarted is how many trials were ended before they had ever started. They are
// among those that Count has as Terminated.
func (m *Machine) NeverStarted() int { return m.unstarted }

// OnHold says whether the user has paused the experiment as a whole.
func (m *Machine) OnHold() bool { return m.onHold }

// HeldByUser is how many trials are paused by the user.
func (m *Machine) HeldByUser() int { return m.held }

// Running is how many attempts hold resources.
func (m *Machine) Running() int { return m.running }

// Orphans is how many attempts of an earlier host hold nothing any more, and wait for
// their checkpoints to be taken.
func (m *Machine) Orphans() int { return m.owing }

// Planned is how many trials were made of the planned ones.
func (m *Machine) Planned() int64 { return m.planned }

// Held returns how many attempts hold granted resources, all bundles or none.
func (m *Machine) Held() int { return m.ledger.Holds() }

// Now is the running time of the last event, in nanoseconds.
func (m *Machine) Now() int64 { return m.now }

// Wall is the time of day, in nanoseconds since 1970, of a running time under
// the present host.
func (m *Machine) Wall(at int64) int64 { return m.wall + at }

// Outcome is how the experiment ended, and why; 0 while it runs.
func (m *Machine) Outcome() (Outcome, Cause) { return m.outcome, m.cause }

// Closing says whether the experiment is coming to its end.
func (m *Machine) Closing() bool { return m.closing.outcome != 0 }

// Spec returns the settings in force.
func (m *Machine) Spec() *Spec { return &m.spec }

// AwaitsDecision says whether the observation's result still waits for a decision.
func (m *Machine) AwaitsDecision(observation uint64) bool {
	return m.undecided.find(observation) != nil
}

// Asked says whether the searcher has been asked and has not answered.
func (m *Machine) Asked() bool { return m.ask.count > 0 }

// SearchedOut says whether the searcher has said that it has no more points.
func (m *Machine) SearchedOut() bool { return m.status == SearcherExhausted }

// Waits says whether the searcher has answered "not yet", and is asked again when something has changed or a moment
// has passed.
func (m *Machine) Waits() bool { return m.status == SearcherWaits }

// Undecided says whether the scheduler owes a decision on a result of the trial.
func (m *Machine) Undecided(no TrialNo) bool {
	return m.exists(no) && m.trial(no).live != 0 && len(m.lives[m.trial(no).live-1].due) > 0
}

// Quiescent says that nothing is under way that could lead to an action: no
// question to the searcher, no decision owed.
func (m *Machine) Quiescent() bool { return m.ask.count == 0 && m.undecided.len == 0 }

// Stuck says that only trials are left that the scheduler has paused: nothing runs or waits in line, no answer or
// decision is still to come, and there will be no new trials.
func (m *Machine) Stuck() bool {
	return m.outcome == 0 && m.closing.outcome == 0 && m.Quiescent() && m.exhausted() &&
		m.counts[Running] == 0 && m.counts[Pending] == 0 && m.counts[Paused] > 0 && m.held == 0
}

// Paused says whether only the user can let anything continue: the user has paused the whole experiment, or each
// trial that is left.
func (m *Machine) Paused() bool {
	switch {
	case m.outcome == Finished, m.outcome == StoppedByUser, m.outcome == 0 && m.closing.outcome != 0:
		return false
	case m.onHold:
		return true
	}
	idle := m.counts[Running] == 0 && m.counts[Pending] == 0 && m.Quiescent()
	return m.held > 0 && idle && (m.exhausted() || m.status == SearcherWaits)
}

// Decided is the number of the last observation that the scheduler's recorded
// answers cover.
func (m *Machine) Decided() uint64 { return m.decided }

// Observations is the number of the last observation.
func (m *Machine) Observations() uint64 { return m.observation }

// Checkpoints lists a trial's checkpoints, oldest first.
func (m *Machine) Checkpoints(no TrialNo) []CheckpointRef {
	refs := make([]CheckpointRef, len(m.ckpts[no]))
	for i, c := range m.ckpts[no] {
		refs[i] = c.ref
	}
	return refs
}

// HadCheckpoint says whether the trial has been asked for a checkpoint or has
// gone on from one.
func (m *Machine) HadCheckpoint(no TrialNo) bool {
	return m.trial(no).lastCkpt > 0 || len(m.ckpts[no]) > 0
}

// EachCheckpoint calls f for each checkpoint that is needed, perhaps several
// times: by the trial that made it, or by one that continues from it or is to.
func (m *Machine) EachCheckpoint(f func(CheckpointRef)) {
	for no := range m.trials.len {
		for _, c := range m.ckpts[TrialNo(no)] {
			f(c.ref)
		}
		if x, ok := m.adopts[TrialNo(no)]; ok {
			f(x.from.ref)
		}
		for _, c := range m.left[TrialNo(no)].checkpoints {
			f(c.ref)
		}
	}
}

// Ending is how the experiment is coming to its end, and why; 0 while it is not.
func (m *Machine) Ending() (Outcome, Cause) { return m.closing.outcome, m.closing.cause }

// EndsForGood says whether the experiment is coming to an end after which no trial continues
// by itself: the user has stopped it, or it finishes before its time.
func (m *Machine) EndsForGood() bool { return m.endsForGood() }
