package core

import (
	"strconv"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// State is the state of a trial. Saving and restoring are conditions of a running trial, not states.
type State uint8

// States.
const (
	// Pending waits for resources; it is left by starting, stopping or pausing.
	Pending State = iota + 1
	// Running has an attempt that holds resources; it is left when the attempt ends.
	Running
	// Paused holds nothing and waits to be resumed or stopped.
	Paused
	// Terminated ended well or was stopped. Only a reset leaves it, and only if the trial never started.
	Terminated
	// Errored ended in an error that is not retried; only a reset leaves it.
	Errored

	states = int(Errored) + 1
)

var stateNames = [states]string{"", "PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"}

// String returns the name that users see.
func (s State) String() string { return stateNames[s] }

// Final reports whether the trial has ended.
func (s State) Final() bool { return s == Terminated || s == Errored }

// moves is the transition table: moves[from] has a bit for each state that may follow. Any other
// transition is a bug, and panics.
var moves = [states]uint8{
	0:          1 << Pending,
	Pending:    1<<Running | 1<<Paused | 1<<Terminated | 1<<Errored,
	Running:    1<<Pending | 1<<Paused | 1<<Terminated | 1<<Errored,
	Paused:     1<<Pending | 1<<Terminated,
	Terminated: 1 << Pending,
	Errored:    1 << Pending,
}

// trial is one row of the slab. It has no pointers, so that a million rows cost the garbage collector
// nothing.
type trial struct {
	state State
	marks
	attempt  uint32
	failures uint32
	results  uint32
	lastCkpt uint32 // the highest checkpoint ID used
	ticket   uint32 // of its place in line
	live     int32  // index into Machine.lives plus one; 0: none
	cells    int32  // first statistics cell plus one
	reason   uint32 // index of the cause in Machine.causes
	why      CauseKind
	timed    bool // the caller tells the training time of this attempt
	measured bool // that of an attempt was not told
	params   span
	progress
	times
}

// held says how the user has paused a trial.
type held uint8

const (
	notHeld     held = iota
	heldWithAll      // with the experiment
	heldAlone        // by itself
)

func heldBy(alone bool) held {
	if alone {
		return heldAlone
	}
	return heldWithAll
}

// marks are the facts of a trial that take a byte each.
type marks struct {
	extra     bool // beyond Spec.Trials
	warned    bool // of a missing metric
	front     bool // queued before new ones
	noRestore bool // reset: attempts start from scratch until a new checkpoint is made
	held      held // paused by the user
	dropped   bool // ended by the user before any result that counts
	noStart   bool // attempts ignore Spec.Start
}

// progress is how far a trial has come, in iterations.
type progress struct {
	iteration uint64 // of the last result, or of the checkpoint that it continued from
	resultAt  uint64 // of the last result that counts
	told      uint64 // the highest one that plugins were told
	until     uint64 // no decision before this one
}

// times are the times of a trial, in nanoseconds.
type times struct {
	started int64 // of the first attempt
	spent   int64 // training time of earlier attempts
	ended   int64
}

// intent is the purpose for which a running attempt is ending.
type intent uint8

const (
	noIntent  intent = iota
	toRequeue        // interrupted: it continues with the experiment
	toPause          // by the scheduler
	toHold           // a pause by the user
	toStop
	toFail
)

// pauses reports whether the trial must be paused.
func (i intent) pauses() bool { return i == toPause || i == toHold }

// yieldsTo reports whether another intent replaces it: a stronger one does. Of two pauses the first
// counts.
func (i intent) yieldsTo(to intent) bool { return to > i && !(i.pauses() && to.pauses()) }

// live is what only some trials need: one that runs, that has a decision owed, or whose state the
// caller keeps (Spec.Manual).
type live struct {
	trial    TrialNo
	used     bool
	placed   bool
	reported bool
	last     bool  // the trainable said Done
	over     bool  // the attempt has ended; its saves have not
	since    int64 // the attempt trains since then, apart from the trial's time spent
	lastAt   int64 // of the last result, or of the attempt's start
	leftover
	verdicts // before what is rarely read
	attemptEnd
	pendingSaves
	grant    grant
	request  *resource.Request // holds from its pause on
	restored CheckpointRef     // what the attempt started from
	windows  []stat.Window     // aligned with the trial's cells
}

// attemptEnd is why and how an attempt ends.
type attemptEnd struct {
	intent   intent
	restart  bool  // an exploit: it is queued right after the pause
	byUser   bool  // the intent is the user's
	alone    bool  // the user has paused the trial by itself, not only with the experiment
	held     held  // the user pauses it, also if the attempt fails first
	lost     bool  // lost with its node
	nodeGone bool  // its node was lost after the attempt had ended
	cause    Cause // of the intent
	stop     Cause // of a stop of an attempt that was to fail
	end      AttemptEnded
}

// leftover is what an earlier host has left of an attempt.
type leftover struct {
	orphan  bool // it died with that host, and its checkpoints are being taken
	cut     bool // it died with that host, and its end is not recorded
	missing bool // a checkpoint that was to be taken again is missing
	gaveUp  bool // it is missing because the host was told to end

	unexported string // the format of a model that is missing for the same reason
}

// verdicts are the scheduler's decisions on an attempt's results: the one to carry out, and those that it owes.
type verdicts struct {
	verdict Verdict // decided but not yet carried out
	credits uint32
	goOn    Action   // the last ContinueAttempt
	why     string   // the verdict's reason
	due     []uint64 // results that the scheduler has not decided
}

// pendingSaves are the saves of an attempt that are in progress.
type pendingSaves struct {
	saving  uint32
	holding uint32       // the save that goes into memory
	taken   []checkpoint // with the state of their results
}

// pausing reports that it is about to pause, perhaps after a save.
func (l *live) pausing() bool {
	return l.intent.pauses() || l.intent == noIntent && l.verdict == Pause
}

// begin prepares it for a new attempt; owed decisions stay owed, and rewind handles the windows.
func (l *live) begin(g grant, now int64) {
	*l = live{trial: l.trial, used: true, placed: true, since: now, lastAt: now, grant: g,
		verdicts: verdicts{due: l.due}, windows: l.windows}
}

func (m *Machine) move(no TrialNo, to State) {
	t := m.trial(no)
	if moves[t.state]&(1<<to) == 0 {
		panic("core: trial " + strconv.Itoa(int(no)) + " cannot go from " + t.state.String() + " to " + to.String())
	}
	if t.state != 0 {
		m.counts[t.state]--
	}
	m.counts[to]++
	m.work = m.work || t.state == Pending // others may have waited behind it
	if t.held != notHeld {
		t.held = notHeld
		m.held--
	}
	if t.state.Final() {
		m.unfinished++
		m.revived++
	}
	if m.neverStarted(t) {
		m.unstarted--
	}
	t.state = to
	if m.neverStarted(t) {
		m.unstarted++
	}
	if to.Final() {
		m.unfinished--
		t.ended = m.now
	}
}

// liveOf returns the trial's live part, and makes it if necessary.
func (m *Machine) liveOf(no TrialNo) *live {
	t := m.trial(no)
	if t.live == 0 {
		t.live = m.newLive(no)
	}
	return &m.lives[t.live-1]
}

func (m *Machine) newLive(no TrialNo) int32 {
	if n := len(m.freeLives); n > 0 {
		i := m.freeLives[n-1]
		m.freeLives = m.freeLives[:n-1]
		l := &m.lives[i]
		*l = live{trial: no, used: true, verdicts: verdicts{due: l.due[:0]}, windows: l.windows[:0]}
		return i + 1
	}
	m.lives = append(m.lives, live{trial: no, used: true})
	return int32(len(m.lives))
}

// dropLive releases the live part, and the resources with it.
func (m *Machine) dropLive(no TrialNo) {
	t := m.trial(no)
	if t.live == 0 {
		return
	}
	l := &m.lives[t.live-1]
	m.release(l)
	l.used, l.cause, l.stop, l.why = false, Cause{}, Cause{}, ""
	m.freeLives = append(m.freeLives, t.live-1)
	t.live = 0
}
