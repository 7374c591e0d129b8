package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// books are what was seen from outside of the host. Entries about the record have the number of their
// event, so that a loss of power can strike them out.
type books struct {
	w   *world
	err error

	records  [][]byte // acknowledged
	pending  [][]byte // being appended: it may exist after a death
	safeTo   int      // events known to be synced
	syncTo   int      // those that a running sync will make safe
	applied  int      // the last event that was applied
	replays  int      // events that the starting host has replayed
	seen     uint64   // the last observation for reporters
	cursor   int      // in tells: the next one for reporters
	began    int64    // when this host took over,
	before   int64    // and the running time then
	machine  *core.Machine
	powerOff bool
	settled  bool
	lives    bool // the machine belongs to a host

	searcher, scheduler chain
	independent         chain             // for a searcher that is not told results
	tells               []told            // the event of each report
	reports             map[uint64]uint64 // what reporters were told, by number
	lastTold            uint64
	hosted              []int // events that are the start of a host
	ledger
	answers
	states   []core.State
	attempts []uint32
	keep     int                // the most checkpoints of a trial that were ever allowed
	begun    map[attempt]int    // attempts that were started, by event
	with     map[attempt][]byte // their parameters
	deletes  map[ckpt]int       // checkpoints to be deleted, by event
	actions  []uint64           // of each event
	marks    map[int]uint64     // the state after an event

	leases   leasebook
	event    core.Event // the last one
	adopted  bool       // this host has adopted the leases of earlier ones
	failures []uint32   // of each trial
	open     bool       // the searcher was asked and has not answered
	maxLost  uint32     // the most losses of a trial that were ever allowed
}

type attempt struct {
	trial  core.TrialNo
	number uint32
}

// told: a report belongs to an event.
type told struct {
	number uint64
	event  int
	seen   uint64 // the observation; 0: the start of a host
	o      core.Observation
}

// chain is what a listener must have received.
type chain struct{ links []link }

type link struct {
	want  sdk.Event
	event int
	hash  uint64 // of everything so far
}

func (c *chain) add(want sdk.Event, event int) {
	var before uint64
	if n := len(c.links); n > 0 {
		before = c.links[n-1].hash
	}
	c.links = append(c.links, link{want, event, mix(before, eventHash(&want))})
}

// at finds an observation.
func (c *chain) at(number uint64) (link, bool) {
	i, ok := slices.BinarySearchFunc(c.links, number,
		func(l link, n uint64) int { return cmp.Compare(l.want.Number, n) })
	if !ok {
		return link{}, false
	}
	return c.links[i], true
}

func (c *chain) cut(events int) {
	for n := len(c.links); n > 0 && c.links[n-1].event > events; n-- {
		c.links = c.links[:n-1]
	}
}

func newBooks(w *world) *books {
	return &books{w: w, reports: map[uint64]uint64{}, begun: map[attempt]int{}, with: map[attempt][]byte{},
		deletes: map[ckpt]int{}, marks: map[int]uint64{}, leases: newLeasebook(),
		ledger: newLedger(), answers: newAnswers()}
}

// fail keeps the first mistake.
func (b *books) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// taking: a host begins to read the record.
func (b *books) taking() {
	b.replays, b.machine, b.syncTo, b.settled, b.lives = 0, nil, 0, false, false
	clear(b.posted)
}

// replayed compares what a host reads with what was written.
func (b *books) replayed(first uint64, records [][]byte) {
	all := len(b.records)
	for i, r := range records {
		n := int(first) - 1 + i
		var want []byte
		switch {
		case n < all:
			want = b.records[n]
		case n < all+len(b.pending):
			want = b.pending[n-all]
		default:
			b.fail("event %d is in the record, which nobody has written", n+1)
			return
		}
		if !bytes.Equal(r, want) {
			b.fail("event %d is in the record as %x; it was written as %x", n+1, r, want)
		}
	}
	b.replays = int(first) - 1 + len(records)
}

// taken: a host has taken the record up.
func (b *books) taken(t *hosttest.SteppedHost) {
	b.settle()
	b.machine, b.lives = t.Machine(), true
	b.began = b.w.now
	b.before = b.machine.Now()
	if mark, ok := b.marks[b.applied]; ok && mark != stateOf(b.machine) {
		b.fail("after event %d the state is another one than before the death", b.applied)
	}
	b.restate()
	b.adopted = false
	b.cursor, _ = slices.BinarySearchFunc(b.tells, b.w.rig.Reported+1,
		func(t told, n uint64) int { return cmp.Compare(t.number, n) })
	b.orders, b.orderedTo = nil, b.machine.Decided()
}

// settle: the record is open, and what it contains is safe now. Next, plugins are opened and told of
// it.
func (b *books) settle() {
	if b.settled {
		return
	}
	b.settled = true
	n := b.replays
	must := len(b.records)
	if b.powerOff {
		must = b.safeTo
	}
	if n < must {
		b.fail("%d events are in the record; %d were acknowledged", n, must)
	}
	if n > len(b.records) && n != len(b.records)+len(b.pending) {
		b.fail("a part of a batch is in the record: %d events, of %d and %d", n, len(b.records), len(b.pending))
	}
	if n > len(b.records) {
		b.records = append(b.records, b.pending...)
	}
	b.cut(n)
	b.pending, b.powerOff, b.safeTo = nil, false, n
	b.catchUp(n)
}

// catchUp follows events of a host that died after it recorded them and before it applied them.
func (b *books) catchUp(n int) {
	from := b.applied
	if b.applied = min(from, n); from >= n {
		return
	}
	h := history.From(history.Records(1, b.records))
	b.machine = h.Machine()
	err := h.Visit(history.Visitor{
		Before: func(x history.Entry) error {
			if x.Number == uint64(from)+1 {
				b.restate()
			}
			return nil
		},
		After: func(s *history.Step) error {
			if s.Number <= uint64(from) {
				return nil
			}
			b.happened(s.Event)
			for _, a := range s.Actions {
				b.did(a)
			}
			return nil
		},
	})
	if err != nil {
		b.fail("%v", err)
	}
}

// cut drops what came after an event, which is lost.
func (b *books) cut(n int) {
	b.records = b.records[:n]
	b.actions = b.actions[:min(n, len(b.actions))]
	b.searcher.cut(n)
	b.independent.cut(n)
	b.scheduler.cut(n)
	for i := len(b.tells); i > 0 && b.tells[i-1].event > n; i-- {
		b.tells = b.tells[:i-1]
	}
	b.seen = 0
	for i := len(b.tells); i > 0 && b.seen == 0; i-- {
		b.seen = b.tells[i-1].seen
	}
	for i := len(b.hosted); i > 0 && b.hosted[i-1] > n; i-- {
		b.hosted = b.hosted[:i-1]
	}
	b.ledger.cut(n)
	b.leases.cut(n)
	maps.DeleteFunc(b.begun, func(_ attempt, event int) bool { return event > n })
	maps.DeleteFunc(b.deletes, func(_ ckpt, event int) bool { return event > n })
	maps.DeleteFunc(b.marks, func(event int, _ uint64) bool { return event > n })
}

// running returns the running time now.
func (b *books) running() int64 { return b.before + b.w.now - b.began }

func (b *books) died(power bool) { b.powerOff = b.powerOff || power }

// lost: a sync has failed, so that the page cache may differ from the disk.
func (b *books) lost() { b.powerOff = true }

func (b *books) appending(records [][]byte) { b.pending = slices.Clone(records) }

func (b *books) appended(first uint64) {
	if int(first) != len(b.records)+1 {
		b.fail("events were appended as %d; %d are there", first, len(b.records))
	}
	b.records = append(b.records, b.pending...)
	b.pending = nil
}

// syncing and safe: the record's file is synced.
func (b *books) syncing() {
	if b.machine != nil { // otherwise a recovery writes it
		b.syncTo = len(b.records)
	}
}

func (b *books) safe() { b.safeTo = max(b.safeTo, min(b.syncTo, len(b.records))) }

// happened is called right after an event was applied.
func (b *books) happened(e core.Event) {
	b.applied++
	n := b.applied
	if n > len(b.records) {
		b.fail("event %d (%T) is applied before it is in the record", n, e)
	}
	b.actions = append(b.actions, 0)
	switch e := e.(type) {
	case *core.MetricNamed:
		b.named(e, n)
	case *core.ResultReported:
		b.recorded(e)
	case *core.AttemptEnded:
		b.noneLost(e)
	case *core.SuggestionsReceived:
		b.suggestions(e)
	case *core.TrialGiven:
		b.made([]core.Suggestion{e.Suggestion})
	case *core.TrialReset:
		if resume := b.w.rig.Resume; b.lives && (resume == "" || e.Scratch == (resume == "errored_resume")) {
			b.fail("trial %d is reset from scratch: %t, and the user said %q", e.Trial, e.Scratch, resume)
		}
	case *core.PluginFailed:
		b.givenUp(e)
	case *core.SchedulerDecided:
		b.decisions(e)
	case *core.HostStarted:
		b.hosted = append(b.hosted, n)
		b.tells = append(b.tells, told{number: b.seen + uint64(len(b.hosted)), event: n})
	}
	if now, passed := b.machine.Now(), b.running(); b.lives && (now > passed || now < passed && b.w.waits == 0) {
		b.fail("the running time is %v, and %v have passed", time.Duration(now), time.Duration(passed))
	}
	b.grow()
	b.moves(e)
	b.tenants(e)
}

// did is called for each action of the last event.
func (b *books) did(a core.Action) {
	n := b.applied
	b.actions[n-1] = mix(b.actions[n-1], hashAction(a))
	b.rents(a)
	switch a := a.(type) {
	case core.AskSearcher:
		b.asked = a
	case *core.Tell:
		b.told(a.Observation)
	case core.StartAttempt:
		k := attempt{a.Trial, a.Attempt}
		if event, twice := b.begun[k]; twice {
			b.fail("attempt %d of trial %d is started by event %d and by event %d", a.Attempt, a.Trial, event, n)
		}
		b.begun[k], b.with[k] = n, b.machine.Params(a.Trial)
	case core.DeleteCheckpoint:
		b.deletes[ckpt{a.Trial, a.ID}] = n
	}
}

// told notes who must receive an observation.
func (b *books) told(o core.Observation) {
	n := b.applied
	if o.To&core.ToSearcher != 0 {
		b.searcher.add(b.expected(o, core.ToSearcher), n)
		if o.Kind != core.SawResult {
			b.independent.add(b.expected(o, core.ToSearcher), n)
		}
	}
	if o.To&core.ToScheduler != 0 && !b.machine.Spec().Quiet {
		b.scheduler.add(b.expected(o, core.ToScheduler), n)
		b.due[o.Number] = o.Due
	}
	if o.To&core.ToReporters != 0 {
		b.seen = o.Number
		b.tells = append(b.tells, told{o.Number + uint64(len(b.hosted)), n, o.Number, o})
	}
	if o.Kind == core.SawResult {
		b.count(o, n)
	}
}

// restate begins to follow the trials of a machine.
func (b *books) restate() {
	b.states, b.attempts, b.failures = b.states[:0], b.attempts[:0], b.failures[:0]
	b.grow()
}

// grow makes the books as long as the list of trials.
func (b *books) grow() {
	for no := len(b.states); no < b.machine.Trials(); no++ {
		v := b.machine.View(core.TrialNo(no))
		b.states, b.attempts = append(b.states, v.State), append(b.attempts, v.Attempt)
		b.failures = append(b.failures, v.Failures)
	}
}

// started checks a process that is about to run: its trial has no other one, and there is room for it.
func (b *books) started(p *proc) {
	if old := b.w.procs[p.trial]; old != nil {
		b.fail("trial %d is started while its attempt %d still runs", p.trial, old.attempt)
	}
	if other := b.w.tenant(p.lease); other != nil {
		b.fail("trials %d and %d run on lease %d", p.trial, other.trial, p.lease)
	}
	running := 1
	used := map[uint32]resource.Amount{}
	add := func(p *proc) {
		for i, s := range p.nodes {
			used[s] = used[s].Add(b.machine.Request(p.trial).Bundles()[i].Get("cpu"))
		}
	}
	add(p)
	for _, other := range b.w.procs {
		running++
		add(other)
	}
	if limit := int(b.machine.Spec().Concurrency); limit > 0 && running > limit {
		b.fail("%d trials run; concurrency is %d", running, limit)
	}
	if b.w.cluster != nil {
		return // places nothing
	}
	for _, n := range b.w.plan.nodes {
		if x := used[n.ID]; n.Capacity.Get("cpu").Cmp(x) < 0 {
			b.fail("processes hold %s cpu of node %d, which has %s", x, n.ID, n.Capacity)
		}
	}
}
