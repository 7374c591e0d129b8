package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
)

// Options are what a [Granter] needs.
type Options struct {
	// Title names the executor in messages, as `executor "fake"`.
	Title string
	// Prefix is the prefix of the names of the experiment's leases.
	Prefix string
	// First is the opened plugin; Open opens another one after a failure.
	First plugin.Executor
	Open  func(ctx context.Context) (plugin.Executor, error)
	// Agents are the agents that the executor starts on leases; nil: none.
	Agents Agents
	// Within limits the time of a call of the plugin; nil: no limit.
	Within func(ctx context.Context) (context.Context, context.CancelFunc)
	// Post posts events of leases to the core.
	Post func(...core.Event)
	// Note keeps the names of leases that were given up and may still go on; nil: nobody needs them.
	Note func(Kept)
	Log  *hostlog.Log
	// Clock is the clock for the delays after failed calls.
	Clock clock.Clock
}

// Kept are leases that were given up and may still go on.
type Kept struct {
	// Names are their names, with * for those of earlier hosts.
	Names []string
	// Until is how long the host waits for the executor; zero: it does not wait any more.
	Until time.Time
	// Ran: agents ran on all of these leases. Agents end when they have had no host for a while.
	Ran bool
}

// Granter carries out the core's lease actions, with an executor. A call that
// fails is repeated until it succeeds, and a plugin that fails is started again; the
// experiment waits meanwhile. Do never waits.
type Granter struct {
	Options
	mu     sync.Mutex
	leases map[core.LeaseID]*lease
	nodes  sync.Map // the nodes of granted leases, by the names of these
	begun  bool     // Flush was called: the leases to adopt are known
	// adopted: Adopt has succeeded, so the engine has released all leases that the core does not have.
	adopted bool
	wake    chan struct{}
	closing chan struct{} // Close has begun, which the wait after a failed call has not noticed yet
	// progress is closed and replaced after each call that releases leases.
	progress chan struct{}
	ctx      context.Context // until Close
	stop     context.CancelFunc
	done     chan struct{}
	early    early
	// returning are the leases whose agents are still those of an earlier host.
	returning returning
	left      map[core.LeaseID]bool // leases that were released while they were ending: the executor may still say why
	ended     bool                  // the core was told to end; only Run's goroutine uses it
	called    time.Time             // when the last call of the executor began; only Run's goroutine uses it
	failing   map[string]bool       // the calls that have failed and not succeeded since; only Run's goroutine uses it
}

// maxText limits the length of an executor's messages, because they go into the record. A refusal by Kubernetes that
// lists all that a pod lacks has some 700 bytes.
const maxText = 1000

// state is the state of a lease, as far as the granter knows.
type state uint8

const (
	asking    state = iota // the executor has not confirmed the request yet
	held                   // the executor has accepted or adopted it
	releasing              // the executor has not confirmed the release yet
)

type lease struct {
	state   state
	asked   bool // the executor may have got the request, whether or not it has confirmed that
	again   bool // it was requested again, after a request that failed
	calling bool // the call that requests it has not ended
	request resource.Request
	adopted bool
	granted bool // the core knows
	ending  bool // the core knows
	// explained: the core knows why it is ending. endAt and endWhy are the time and the reason that the core was
	// told; endAt is 0 if the time is not known.
	explained bool
	endAt     int64
	endWhy    string
	awaited   bool // its agents are lost, and the executor may say why
	heard     bool // the executor has said something about it
	// hopeless: the executor has said that it will not be granted.
	hopeless bool
	// ran: it was granted, and its agents were connected, before it was given back.
	ran     bool
	pending pending
	joining *joining // nil: its agents are connected, or there are none
	// nodes are the names of the nodes of its bundles, once it is granted, and addresses are their addresses, if it has
	// agents.
	nodes, addresses []string
}

// New returns a granter. Run does its work.
func New(o Options) *Granter {
	g := &Granter{Options: o, leases: map[core.LeaseID]*lease{}, wake: make(chan struct{}, 1),
		left: map[core.LeaseID]bool{}, failing: map[string]bool{},
		returning: returning{missing: map[core.LeaseID]bool{}},
		closing:   make(chan struct{}, 1), progress: make(chan struct{}), done: make(chan struct{})}
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// Do implements engine.Granter.
func (g *Granter) Do(a core.Action) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch a := a.(type) {
	case core.RequestLease:
		g.leases[a.Lease] = &lease{request: a.Request}
	case core.AdoptLeases:
		for _, id := range a.Leases {
			g.leases[id] = &lease{state: held, asked: true, adopted: true}
		}
		g.expectBack(a.Leases)
	case core.ReleaseLease:
		g.release(a.Lease)
	}
}

// release forgets a lease that was never requested from the executor, and releases others.
func (g *Granter) release(id core.LeaseID) {
	l := g.leases[id]
	if l != nil && !l.asked {
		delete(g.leases, id)
		return
	}
	if l != nil && l.state == releasing {
		return
	}
	if l != nil && l.ending {
		g.left[id] = true
	}
	ran := l != nil && l.granted && l.joining == nil
	if l != nil {
		l.stopJoining()
	}
	if l != nil && l.awaited { // the executor may still say why it has ended
		l.state, l.ran = releasing, ran
		return
	}
	g.leases[id] = &lease{state: releasing, asked: true, ran: ran}
}

// Flush implements engine.Granter.
func (g *Granter) Flush() {
	g.mu.Lock()
	g.begun = true
	g.mu.Unlock()
	g.nudge()
}

func (g *Granter) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// name returns a lease's name for the executor.
func (g *Granter) name(id core.LeaseID) string { return g.Prefix + strconv.FormatUint(uint64(id), 10) }

// id is the inverse of name.
func (g *Granter) id(name string) (core.LeaseID, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, g.Prefix), 10, 32)
	return core.LeaseID(n), err == nil && g.name(core.LeaseID(n)) == name
}

// Run drives the executor until Close.
func (g *Granter) Run() {
	defer close(g.done)
	b := backoff{granter: g}
	for p := g.First; g.ctx.Err() == nil; p = nil {
		if err := g.life(p, &b); err != nil {
			g.warnBroken(err)
			g.tellUnanswered(err)
			b.failed(g.ctx, err)
		}
	}
}

// warnBroken tells the user that the plugin itself fails, which is a bug of the plugin.
func (g *Granter) warnBroken(err error) {
	if g.ctx.Err() == nil && plugin.FailureOf(err) != plugin.Failed {
		g.Log.Once("broken executor", err.Error()+"; it is started again each time, and "+g.awaits()+" meanwhile")
	}
}

// life is one process of the plugin, from its opening to its failure.
func (g *Granter) life(p plugin.Executor, b *backoff) (err error) {
	if p == nil {
		p, err = g.Open(g.ctx)
		if g.heard("Open", err); err != nil {
			return err
		}
	}
	broken := make(chan error, 1)
	go func() { broken <- g.listen(p) }()
	err = g.serve(p, b, broken)
	_ = p.Close() // it has failed, or the host ends
	return cmp.Or(err, <-broken)
}

// serve makes the pending calls until the plugin fails.
func (g *Granter) serve(p plugin.Executor, b *backoff, broken chan error) error {
	adopted := false
	for g.ctx.Err() == nil {
		err := g.pass(p, &adopted)
		if plugin.FailureOf(err) == plugin.Failed { // the plugin works, but its engine does not answer
			g.tellUnanswered(err)
			b.failed(g.ctx, err)
			continue
		}
		if err != nil {
			return err
		}
		b.succeeded()
		g.answered()
		g.endIfHopeless()
		select {
		case <-g.wake:
		case err := <-broken:
			broken <- err
			return nil
		case <-g.ctx.Done():
		}
	}
	return nil
}

// pass makes the pending calls.
func (g *Granter) pass(p plugin.Executor, adopted *bool) error {
	g.mu.Lock()
	begun := g.begun
	g.mu.Unlock()
	if !begun {
		return nil
	}
	if !*adopted {
		if g.Agents != nil {
			g.Agents.Retain(g.counted())
		}
		if err := g.call("Adopt", func(ctx context.Context) error { return p.Adopt(ctx, g.counted()) }); err != nil {
			return err
		}
		*adopted = true
		g.hasAdopted()
	}
	if err := g.releaseAll(p); err != nil {
		return err
	}
	return g.allocateAll(p)
}

// hasAdopted records that Adopt has released the leases that an earlier host could not release.
func (g *Granter) hasAdopted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.adopted = true
	g.note(Kept{})
	g.watchSilence(g.leasesWhere((*lease).isSilent))
	g.progressed()
}

// note keeps the names of leases that may still go on.
func (g *Granter) note(k Kept) {
	if g.Note != nil {
		g.Note(k)
	}
}

// progressed wakes settle. g.mu is held.
func (g *Granter) progressed() {
	close(g.progress)
	g.progress = make(chan struct{})
}

func (g *Granter) call(name string, f func(context.Context) error) (err error) {
	defer g.watchCall()()
	defer func() { g.heard(name, err) }()
	if g.Within == nil {
		return f(g.ctx)
	}
	ctx, cancel := g.Within(g.ctx)
	defer cancel()
	return f(ctx)
}

// heard notes how a call of the executor has ended.
func (g *Granter) heard(call string, err error) {
	if err != nil {
		g.failing[call] = true
		return
	}
	delete(g.failing, call)
}

// counted returns the names of the leases that the core has, for Adopt.
func (g *Granter) counted() (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range g.leasesWhere(func(l *lease) bool { return l.state != releasing && l.asked }) {
		names = append(names, g.name(id))
	}
	return names
}

// leasesWhere returns the leases for which test is true, in the order of their numbers.
func (g *Granter) leasesWhere(test func(*lease) bool) (ids []core.LeaseID) {
	for id, l := range g.leases {
		if test(l) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Close waits until all leases that the core has released are given back, also those of
// earlier hosts, or until ctx ends. It returns the names of leases that may still be held,
// with * for those of earlier hosts. Run must have been called.
func (g *Granter) Close(ctx context.Context) (kept []string) {
	end, _ := ctx.Deadline()
	g.closing <- struct{}{}
	g.noteWaits(end) // the user may look before the end
	quiet := g.Clock.AfterFunc(closeNotice, func() { g.sayWaits(end) })
	g.settle(ctx)
	quiet()
	g.stop()
	<-g.done
	now := g.kept()
	g.note(now)
	return now.Names
}

// noteWaits notes what the host waits for until it ends.
func (g *Granter) noteWaits(end time.Time) {
	if now := g.kept(); len(now.Names) > 0 {
		now.Until = end
		g.note(now)
	}
}

// closeNotice is the time after which a message says what the end waits for.
const closeNotice = 3 * time.Second

func (g *Granter) sayWaits(end time.Time) {
	kept, limit := g.kept().Names, ""
	if !end.IsZero() {
		limit = fmt.Sprintf(" for %v more at most", max(0, time.Until(end)).Round(time.Second))
	}
	if len(kept) > 0 {
		g.Log.Warn(fmt.Sprintf("%s has not given these leases back yet: %s; the end waits for it%s", g.Title,
			storage.NamesOfLeases(kept), limit))
	}
}

// kept returns the leases that may still be held.
func (g *Granter) kept() Kept {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := Kept{Ran: true}
	for _, id := range g.leasesWhere((*lease).mustRelease) {
		k.Names = append(k.Names, g.name(id))
		k.Ran = k.Ran && g.leases[id].ran
	}
	if g.begun && !g.adopted {
		k.Names, k.Ran = append(k.Names, g.Prefix+"*"), false
	}
	return k
}

// settle waits until all leases that the core has released are given back. A lease that an earlier host could not
// give back has no name here: Adopt releases it.
func (g *Granter) settle(ctx context.Context) {
	for {
		g.mu.Lock()
		settled, progress := g.settled(), g.progress
		g.mu.Unlock()
		if settled {
			return
		}
		select {
		case <-progress:
		case <-g.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// settled reports whether all released leases are given back. g.mu is held.
func (g *Granter) settled() bool {
	return len(g.leasesWhere((*lease).mustRelease)) == 0 && (g.adopted || !g.begun)
}
