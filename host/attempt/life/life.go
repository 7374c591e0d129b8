package life

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Options are the facts about an attempt that do not change.
type Options struct {
	Trial   core.TrialNo
	Attempt uint32
	After   uint64 // the iteration that it continues from
	// Programs says that the process kills the attempt's program itself, and gets a last
	// moment to do so.
	Programs bool
	Export   []string // formats of models
}

// Life is the state of an attempt, with the requests that it has not answered yet.
type Life struct {
	Options
	Reports
	state    State
	out      []Action
	warm     bool              // its process was started for another attempt
	begun    bool              // the trainable has said so
	told     bool              // it was told to stop, so that its end is no failure
	pausing  bool              // it was told to stop and will continue later
	closing  bool              // the host ends
	ignoring bool              // the trainable's events are ignored
	watching bool              // WatchBegin
	armed    bool              // Arm
	fault    core.Cause        // if set, it fails for this cause, however it ends
	order    train.Command     // the order to stop
	last     core.AttemptEnded // its end, once its process is gone
	saves    []Save            // open saves, oldest first
	answered []string          // formats that the trainable has answered
	making   int               // models that are being made
	withheld []Action          // actions that wait for the models
}

// New returns an attempt whose directory is being made.
func New(o Options) *Life { return &Life{Options: o, Reports: NewReports(o.After), state: Preparing} }

// State returns the attempt's state.
func (l *Life) State() State { return l.state }

// StopSent reports whether the attempt was told to stop.
func (l *Life) StopSent() bool { return l.told }

// Begun reports whether the trainable has begun to train.
func (l *Life) Begun() bool { return l.begun }

// IgnoresEvents reports whether all events of the trainable are ignored, except its end.
func (l *Life) IgnoresEvents() bool { return l.ignoring }

// Warm reports whether the attempt's process was started for another one.
func (l *Life) Warm() bool { return l.warm }

// Apply applies an event and returns the resulting actions.
func (l *Life) Apply(e Event) []Action {
	l.out = nil
	k := e.kind()
	if l.ignoring && k.fromTrainable() {
		return nil
	}
	if k == waitOver {
		l.armed = false
	}
	if r := reactionTo(l.state, k); r != nil {
		l.move(r(l, e))
	}
	return l.out
}

// reactionTo returns what an event does in a state, or nil if it comes too late to do anything.
// An answer without a question is a bug.
func reactionTo(s State, k kind) reaction {
	r := table[s][k]
	if r == nil && s.placed() {
		r = placed[k]
	}
	if r == nil && k.answer() {
		panic(fmt.Sprintf("life: answer %d to an attempt that is %v", k, s))
	}
	return r
}

func (l *Life) move(to State) {
	if to == l.state {
		return
	}
	if moves[l.state]&(1<<to) == 0 {
		panic(fmt.Sprintf("life: from %v to %v", l.state, to))
	}
	l.state = to
}

func (l *Life) do(a ...Action) { l.out = append(l.out, a...) }

// tell sends a command to the process.
func (l *Life) tell(c train.Command) { l.do(Tell{Command: c}) }

// tellNow sends a command at once.
func (l *Life) tellNow(kind train.CommandKind) {
	l.do(Tell{Command: train.Command{Kind: kind}, Now: true})
}

func (l *Life) arm(w Wait) {
	l.armed, l.told = true, true
	l.do(Arm{w})
}

func (l *Life) disarm() {
	if l.armed {
		l.armed = false
		l.do(Disarm{})
	}
}

func (l *Life) unwatch() {
	if l.watching {
		l.watching = false
		l.do(UnwatchBegin{})
	}
}
