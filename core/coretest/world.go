package coretest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
)

// World is one experiment with participants that misbehave: searchers that say "not yet", late and
// stale answers, trials that crash, nodes that leave, users that change their minds, hosts that die.
// All of it comes from one seed.
type World struct {
	M      *core.Machine
	r      *rand.Rand
	spec   core.Spec
	at     int64
	calm   bool // faults have stopped, and all participants work correctly
	audit  *audit
	record [][]byte
	told   []uint64 // the actions of each event
	named  int      // metrics that have names

	asks    []core.AskSearcher // not answered
	old     []core.Event       // late news of earlier attempts and questions
	procs   []*proc
	cluster cluster
	owed    []uint64 // observations that the scheduler has not decided
	nodes   []bool   // which nodes exist
	timer   int64
	judging bool // the budget's expression is to be tested
	faulty  int  // one in so many steps goes wrong; 0: none

	// Log, if set, is called with each event and its actions.
	Log func(string)
}

// proc is a running trainable.
type proc struct {
	trial   core.TrialNo
	attempt uint32
	started bool
	iter    uint64
	length  uint64 // the iteration at which it ends by itself
	credits int
	saves   []save
	saveID  uint32 // asked for with the stop
	memory  bool   // in memory
	stop    bool
	last    bool
	ended   bool // saves are not answered yet
}

// Limits of one world.
const (
	wildEvents = 120
	calmEvents = 4000
)

// Live runs a world from a seed until its experiment ends, and returns the first mistake.
func Live(seed uint64, log func(string)) error {
	w := newWorld(seed)
	w.Log = log
	if err := w.live(); err != nil {
		return fmt.Errorf("seed %d, event %d: %w", seed, len(w.record)-1, err)
	}
	if err := w.replay(); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

func newWorld(seed uint64) *World {
	w := &World{M: core.New(), r: rand.New(rand.NewPCG(seed, 0x7475_6e65))}
	w.spec = w.settings()
	w.nodes = make([]bool, len(capacity))
	w.audit = newAudit(w.M)
	w.faulty = []int{0, 4, 12, 40}[w.r.IntN(4)]
	return w
}

func (w *World) live() error {
	if err := w.apply(&core.ExperimentStarted{Spec: w.spec}); err != nil {
		return err
	}
	if err := w.learn(); err != nil {
		return err
	}
	if err := w.host(); err != nil {
		return err
	}
	for range w.r.IntN(wildEvents) {
		if err := w.step(w.actRandomly); err != nil {
			return err
		}
	}
	w.calm, w.faulty = true, 0
	for range calmEvents {
		if w.over() {
			return w.audit.atEnd(w.spec)
		}
		if err := w.step(w.actOrderly); err != nil {
			return err
		}
	}
	return fmt.Errorf("it does not end: %s", w.status())
}

// done: there is nothing to do for this host.
func (w *World) done() bool {
	o, _ := w.M.Outcome()
	return o != 0
}

// over: there is nothing left for a later host either.
func (w *World) over() bool {
	o, _ := w.M.Outcome()
	final := w.M.Count(core.Terminated) + w.M.Count(core.Errored)
	return (o == core.Finished || o == core.StoppedByUser) && final == w.M.Trials()
}

func (w *World) status() string {
	text := fmt.Sprintf("%d procs, %d questions, %d decisions owed, timer %d, now %d;", len(w.procs), len(w.asks),
		len(w.owed), w.timer, w.at)
	for no := range w.M.Trials() {
		v := w.M.View(core.TrialNo(no))
		text += fmt.Sprintf(" %d %s attempt %d iteration %d saving %t stopping %t;", no, v.State, v.Attempt,
			v.Iteration, v.Saving, v.Stopping)
	}
	for _, p := range w.procs {
		text += fmt.Sprintf(" proc %+v;", *p)
	}
	return text
}

func (w *World) step(choose func() []core.Event) error {
	w.at += w.r.Int64N(5_000_000)
	events := choose()
	for _, e := range events {
		if err := w.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// apply records an event, applies what was recorded, and passes the actions to all participants.
func (w *World) apply(e core.Event) error {
	b, err := record.Append(nil, w.at, e)
	if err != nil {
		return err
	}
	w.record = append(w.record, b)
	at, e, err := record.Parse(b)
	if err != nil {
		return err
	}
	w.audit.before(at, e)
	actions := w.M.Apply(at, e)
	w.log(e, actions)
	w.told = append(w.told, digest(actions))
	if err := w.audit.after(e, actions); err != nil {
		return fmt.Errorf("%T %+v: %w", e, e, err)
	}
	for _, a := range actions {
		w.hear(a)
	}
	if _, lost := e.(*core.NodeLeft); lost {
		w.procs = slices.DeleteFunc(w.procs, func(p *proc) bool { return !w.lives(p.trial, p.attempt) })
	}
	return Check(w.M)
}

func (w *World) log(e core.Event, actions []core.Action) {
	if w.Log == nil {
		return
	}
	w.Log(fmt.Sprintf("%d %T%+v", len(w.record)-1, e, e))
	for _, a := range actions {
		w.Log(fmt.Sprintf("    %T%+v", a, a))
	}
}

func digest(actions []core.Action) uint64 {
	var text bytes.Buffer
	for _, a := range actions {
		fmt.Fprintf(&text, "%T%v\n", a, a)
	}
	h := fnv.New64a()
	h.Write(text.Bytes())
	return h.Sum64()
}

// replay applies the record to a new machine: the same events must give the same actions.
func (w *World) replay() error {
	m := core.New()
	for i, b := range w.record {
		at, e, err := record.Parse(b)
		if err != nil {
			return err
		}
		if digest(m.Apply(at, e)) != w.told[i] {
			return fmt.Errorf("event %d (%T) replays differently", i, e)
		}
	}
	for no := range w.M.Trials() {
		a, b := w.M.View(core.TrialNo(no)), m.View(core.TrialNo(no))
		if fmt.Sprint(a) != fmt.Sprint(b) {
			return fmt.Errorf("replayed as %+v, but it was %+v", b, a)
		}
	}
	return nil
}

// hear passes an action to the participants.
func (w *World) hear(a core.Action) {
	switch a := a.(type) {
	case core.AskSearcher:
		w.asks = append(w.asks, a)
	case *core.Tell:
		if a.Observation.Due {
			w.owed = append(w.owed, a.Observation.Number)
		}
	case core.StartAttempt:
		from := w.M.View(a.Trial).Iteration
		w.procs = append(w.procs, &proc{trial: a.Trial, attempt: a.Attempt, iter: from,
			length: from + 1 + w.r.Uint64N(6), credits: 1 + int(w.spec.RunAhead)})
	case core.JudgeBudget:
		w.judging = true
	case core.SetTimer:
		w.timer = a.At
	case core.RequestLease, core.ReleaseLease, core.AdoptLeases:
		w.cluster.hear(a)
	default:
		w.hearOfAttempt(a)
	}
}

func (w *World) hearOfAttempt(a core.Action) {
	switch a := a.(type) {
	case core.ContinueAttempt:
		if p := w.find(a.Trial, a.Attempt); p != nil {
			p.credits += int(a.Credits)
		}
	case core.SaveAttempt:
		if p := w.find(a.Trial, a.Attempt); p != nil {
			p.saves = append(p.saves, save{id: a.ID, iteration: a.Iteration})
		}
	case core.TakeCheckpoint:
		p := w.find(a.Trial, a.Attempt)
		if p == nil && a.Again {
			p = &proc{trial: a.Trial, attempt: a.Attempt, started: true, ended: true}
			w.procs = append(w.procs, p)
		}
		if p != nil {
			p.saves = append(p.saves, save{id: a.ID, iteration: a.Iteration})
		}
	case core.StopAttempt:
		if p := w.find(a.Trial, a.Attempt); p != nil && w.lives(a.Trial, a.Attempt) {
			p.stop, p.saveID, p.memory = true, a.SaveID, a.Memory
		}
	case core.KillAttempt:
		if p := w.find(a.Trial, a.Attempt); p != nil && !w.lives(a.Trial, a.Attempt) && (w.calm || w.one(2)) {
			w.gone(p) // otherwise its node is cut off, and it does not learn that its lease is lost
		}
	}
}

func (w *World) find(no core.TrialNo, attempt uint32) *proc {
	for _, p := range w.procs {
		if p.trial == no && p.attempt == attempt {
			return p
		}
	}
	return nil
}

// lives reports whether the attempt is the running one.
func (w *World) lives(no core.TrialNo, attempt uint32) bool {
	return w.M.State(no) == core.Running && w.M.View(no).Attempt == attempt
}

func (w *World) gone(p *proc) {
	w.procs = slices.DeleteFunc(w.procs, func(q *proc) bool { return q == p })
}

// wrong reports whether something goes wrong now.
func (w *World) wrong() bool { return w.faulty > 0 && w.r.IntN(w.faulty) == 0 }

// one returns true once in n times.
func (w *World) one(n int) bool { return w.r.IntN(n) == 0 }

func pick[T any](w *World, list []T) T { return list[w.r.IntN(len(list))] }
