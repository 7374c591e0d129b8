package core

import (
	"errors"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// Machine is the experiment. The zero value is not ready: use [New]. It is not safe for concurrent
// use.
type Machine struct {
	course
	trialTables
	checkpointTables
	exceptions
	counters
	metricTables
	granting
	consulting
	judging judging
	ending
	work    bool // something may be started or requested
	actions []Action
	tells   []Tell // those in actions
}

// course is how the experiment is going.
type course struct {
	spec    Spec
	started bool  // ExperimentStarted was applied
	hosted  bool  // HostStarted was applied
	onHold  bool  // the user has paused the experiment
	holdAt  int64 // when it was paused last
	holdNS  int64 // for how long it was paused before that
	now     int64
	wall    int64 // time of day at running time 0 of the present host
	host    string
	boot    string // of the machine
	owing   int    // attempts of a dead host whose checkpoints are being taken
}

// trialTables have something for each trial, or for each running one.
type trialTables struct {
	trials    slab[trial]
	params    params
	cells     slab[cell]
	summaries slab[stat.Summary]
	lives     []live
	causes    causes
	freeLives []int32
}

// checkpointTables are the checkpoints of trials.
type checkpointTables struct {
	ckpts   map[TrialNo][]checkpoint
	shared  map[CheckpointRef]int // how many trials use it beside the first
	adopts  map[TrialNo]adoption  // to be made at the next start
	exports map[TrialNo][]Export
	// inMemory has the states of paused trials that this host holds.
	inMemory map[TrialNo]checkpoint
	stored   int64   // bytes of all checkpoints
	spare    []spare // deletable when they take too much
	full     bool    // the user was told so
}

// exceptions have what few trials have.
type exceptions struct {
	asked   map[TrialNo]resource.Request  // requests of their own
	losses  map[TrialNo]uint32            // how often each lost its node
	first   map[TrialNo]span              // parameters before an exploit
	left    map[TrialNo]leftDirs          // directories that the trial has left
	stopsAt map[TrialNo]earlierStop       // of trials that were stopped, and run again
	earlier map[TrialNo]*earlierStretches // of trials with more than one stretch
}

// counters count trials.
type counters struct {
	counts  [states]int
	running int // attempts that hold resources
	held    int // trials paused by the user
	// unfinished counts trials that are not in a final state.
	unfinished int
	// revived counts how often a trial left a final state.
	revived   uint64
	planned   int64 // trials that count towards Spec.Trials
	unstarted int   // trials that ended before they ever started
}

// metricTables are the metrics that were ever reported.
type metricTables struct {
	metricNames []string // by MetricID
	metricIDs   map[string]MetricID
	required    []MetricID // aligned with Spec.Required; 0: never seen
	rules       []MetricID // aligned with Spec.Stop.Metrics
	score       MetricID
	objectives  []MetricID // aligned with Spec.Objectives; 0: never seen
}

// granting is where trials run, and the lines in which they wait for that.
type granting struct {
	granter  granter // one of these
	ledger   *ledger
	caller   *caller
	engine   *engine
	resumed  queue // before new ones
	pending  queue
	deadline deadlines
}

// consulting is what searcher and scheduler were asked and told.
type consulting struct {
	ask         ask
	nextAsk     uint64
	suggested   uint64
	learned     uint32 // trials of other experiments
	status      SearcherStatus
	searchEnded bool // the scheduler was told that no more trials will come
	waits       int  // answers "not yet" while nothing ran
	waitUntil   int64
	wake        int64 // the timer that is set
	observation uint64
	undecided   undecideds
	decided     uint64 // the last observation that the scheduler has answered
}

// ending is how the experiment ends.
type ending struct {
	closing closing
	outcome Outcome
	cause   Cause
}

// ask is the question that the searcher has not answered; count 0: none.
type ask struct {
	number uint64
	first  uint64
	count  int
}

// closing is how the experiment is ending.
type closing struct {
	outcome Outcome // 0: it is not ending
	cause   Cause
	atOnce  bool // nothing is saved, and there is no time to clean up
}

// ErrFinished is returned for a step of a finished experiment (B-004).
var ErrFinished = errors.New("the experiment is finished")

// New returns a machine without history. Its first event must be [ExperimentStarted].
func New() *Machine {
	m := &Machine{
		trialTables: trialTables{causes: newCauses()},
		checkpointTables: checkpointTables{ckpts: map[TrialNo][]checkpoint{}, shared: map[CheckpointRef]int{},
			adopts: map[TrialNo]adoption{}, exports: map[TrialNo][]Export{}, inMemory: map[TrialNo]checkpoint{}},
		exceptions: exceptions{asked: map[TrialNo]resource.Request{}, first: map[TrialNo]span{},
			left: map[TrialNo]leftDirs{}, stopsAt: map[TrialNo]earlierStop{},
			earlier: map[TrialNo]*earlierStretches{}},
		metricTables: metricTables{metricNames: []string{""}, metricIDs: map[string]MetricID{}},
	}
	m.ledger, m.caller, m.engine = &ledger{m: m}, &caller{m: m}, newEngine(m)
	m.ledger.clear()
	return m
}

// Apply applies one event that happened at the running time at (nanoseconds since the experiment
// began, never going back) and returns what to do. The slice is valid until the next call.
func (m *Machine) Apply(at int64, e Event) []Action {
	m.forgetActions()
	if at > m.now {
		m.now = at
	}
	if _, first := e.(*ExperimentStarted); first == m.started {
		panic("core: a record begins with ExperimentStarted, once")
	}
	e.apply(m)
	m.schedule()
	m.searchOver()
	m.engine.releaseUnused()
	m.finishIfDone()
	m.judge()
	m.setTimer()
	return m.actions
}

// forgetActions begins a new list. The memory of the last one is used again unless it was an unusually long one.
func (m *Machine) forgetActions() {
	if len(m.actions) > maxKeptActions {
		m.actions, m.tells = nil, nil
	}
	m.actions, m.tells = m.actions[:0], m.tells[:0]
}

func (m *Machine) do(a Action) { m.actions = append(m.actions, a) }

func (m *Machine) warn(no TrialNo, c Cause) { m.do(Warn{Trial: no, HasTrial: true, Cause: c}) }

func (e *ExperimentStarted) apply(m *Machine) {
	m.started = true
	m.settings(e.Spec)
}

func (e *SettingsChanged) apply(m *Machine) {
	e.Spec.Repeat = m.spec.Repeat // the numbers of trials depend on it
	e.Spec.Rules = m.spec.Rules
	if e.Spec.Extended != m.spec.Extended {
		m.status = SearcherReady // it is another searcher, or has more to search
	}
	m.settings(e.Spec)
	m.reopen()
	m.searchEnded = m.searchEnded && m.exhausted()
}

func (m *Machine) settings(s Spec) {
	m.spec = s
	m.choose()
	m.judging = judging{}
	m.required = make([]MetricID, len(s.Required))
	m.rules = make([]MetricID, len(s.Stop.Metrics))
	m.score = 0
	m.objectives = make([]MetricID, len(s.Objectives))
	for id := 1; id < len(m.metricNames); id++ {
		m.bind(m.metricNames[id], MetricID(id))
	}
	for i := range m.lives {
		if l := &m.lives[i]; l.placed {
			m.armTime(l.trial)
		}
	}
	m.limitDisk()
	m.work = true
}

func (e *MetricNamed) apply(m *Machine) {
	if int(e.ID) != len(m.metricNames) {
		return // named before
	}
	m.metricNames = append(m.metricNames, e.Name)
	m.metricIDs[e.Name] = e.ID
	m.bind(e.Name, e.ID)
}

// bind tells the rules that name a metric its number.
func (m *Machine) bind(name string, id MetricID) {
	for i, r := range m.spec.Required {
		if r.Metric == name {
			m.required[i] = id
		}
	}
	for i, r := range m.spec.Stop.Metrics {
		if r.Metric == name {
			m.rules[i] = id
		}
	}
	if m.spec.Checkpoint.Score == name {
		m.score = id
	}
	for i, o := range m.spec.Objectives {
		if o.Metric == name {
			m.objectives[i] = id
		}
	}
}

// tell passes an observation to its listeners. If suggestions have several runs, the searcher is told
// of all runs together instead. The observation is the machine's afterwards.
func (m *Machine) tell(o *Observation) uint64 {
	together := m.runs() > 1 && o.Kind != SawEnd && o.Kind != SawSearchEnded
	if together {
		o.To &^= ToSearcher
	}
	number := m.say(o)
	if together {
		m.tellTogether(*o)
	}
	return number
}

// say adds a copy of an observation to the actions.
func (m *Machine) say(o *Observation) uint64 {
	m.observation++
	o.Number = m.observation
	if o.To&ToSearcher != 0 {
		m.searcherLearned()
	}
	m.tells = append(m.tells, Tell{*o}) // what earlier actions point to stays, also if this moves the rest
	m.do(&m.tells[len(m.tells)-1])
	return o.Number
}

// searcherLearned notes that the searcher learned something, which may end its "not yet".
func (m *Machine) searcherLearned() {
	if m.status == SearcherWaits {
		m.status = SearcherReady
		m.work = true
	}
	m.waits, m.waitUntil = 0, 0
}

// end begins the end of the experiment. The first reason stays, unless a stronger one comes: a failure
// or an interrupt keeps trials for later, a stop ends them.
func (m *Machine) end(o Outcome, why Cause) {
	if m.closing.outcome >= o {
		return
	}
	m.closing = closing{outcome: o, cause: why, atOnce: m.closing.atOnce}
	keep := o == InterruptedByUser || o == Failed
	for no := range m.trials.len {
		m.endTrial(TrialNo(no), keep, why)
	}
}

// endAtOnce is end for a user who wants to leave at the first failure: what runs is killed, even
// attempts that were told to stop and still have time.
func (m *Machine) endAtOnce(why Cause) {
	if m.closing.outcome >= Failed {
		return
	}
	m.closing.atOnce = m.since(RulesV2)
	m.end(Failed, why)
	if !m.closing.atOnce {
		return
	}
	for no := range m.trials.len {
		if t := m.trial(TrialNo(no)); t.state == Running {
			m.killAttempt(TrialNo(no))
		}
	}
}

func (m *Machine) endTrial(no TrialNo, keep bool, why Cause) {
	switch s := m.trial(no).state; {
	case s == Running && keep:
		m.stopAttempt(no, toRequeue, why)
	case keep || s.Final():
	default:
		m.stopTrial(no, why)
	}
}

// finishIfDone ends the experiment once nothing is left to do (B-004).
func (m *Machine) finishIfDone() {
	if m.outcome != 0 || m.running > 0 || m.owing > 0 {
		return
	}
	switch {
	case m.closing.outcome != 0:
		m.finish(m.closing.outcome, m.closing.cause)
	case m.unfinished == 0 && m.ask.count == 0 && m.exhausted():
		m.finish(Finished, Cause{})
	}
}

func (m *Machine) finish(o Outcome, why Cause) {
	m.engine.giveAllBack()
	m.outcome, m.cause = o, why
	m.tell(&Observation{Kind: SawEnd, To: ToAll, Outcome: o})
	m.do(Finish{o, why})
}

// exhausted reports that no further trial will be asked for.
func (m *Machine) exhausted() bool {
	return m.status == SearcherExhausted || m.spec.Trials >= 0 && m.planned >= m.spec.Trials
}

// searchOver tells the scheduler, once, that no more trials will come: it then knows all trials of a
// comparison.
func (m *Machine) searchOver() {
	if m.searchEnded || !m.hosted || m.outcome != 0 || !m.exhausted() {
		return
	}
	m.searchEnded = true
	m.tell(&Observation{Kind: SawSearchEnded, To: ToScheduler})
}

// endsForGood reports that it is ending, and nothing is kept for later.
func (m *Machine) endsForGood() bool {
	return m.closing.outcome == Finished || m.closing.outcome == StoppedByUser
}

// reopen continues a finished experiment.
func (m *Machine) reopen() {
	m.outcome, m.cause, m.closing = 0, Cause{}, closing{}
	m.judging = judging{}
	m.work = true
	m.searcherLearned() // "not yet" is asked again
}
