package batch

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// busy limits the share of time that is spent on looking: one part of busy.
const busy = 4

// follow looks at the jobs again and again, until Close.
func (e *executor) follow() {
	wait := time.NewTimer(e.poll)
	defer wait.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-e.look:
		case <-wait.C:
		}
		begin := time.Now()
		e.round()
		wait.Reset(max(e.poll, busy*time.Since(begin)))
	}
}

// round looks at all jobs once.
func (e *executor) round() {
	e.mu.Lock()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(e.leases)) {
		if e.adopted && e.leases[name].ID != "" {
			names = append(names, name)
		}
	}
	e.mu.Unlock()
	if len(names) == 0 {
		return
	}
	_ = e.withStates(names, func(name, id string, s state, text string) { e.noteState(name, id, s, text) })
	e.cancelVanished()
}

// cancelVanished cancels the jobs of leases that are lost because the system said nothing of them: one may run after
// all. It is tried once; without its lease, such a job ends when it begins, or with its agent.
func (e *executor) cancelVanished() {
	e.mu.Lock()
	ids := e.vanished
	e.vanished = nil
	e.mu.Unlock()
	_ = each(e.ctx, ids, func(id string) error { return e.cancelJob(e.ctx, id) })
}

// state is the state of a job.
type state uint8

const (
	unknown state = iota
	pending
	running
	ended
	absent // it is not in the list of all jobs
)

// withStates calls f with the state of each lease's job, and what the batch system prints of it.
func (e *executor) withStates(names []string, f func(name, id string, s state, text string)) error {
	if e.status.uses("id") {
		return each(e.ctx, names, func(name string) error {
			id := e.idOf(name)
			s, text := e.ask(e.ctx, id)
			f(name, id, s, text)
			return nil
		})
	}
	o, why := e.askAll(e.ctx)
	for _, name := range names {
		id := e.idOf(name)
		s, text := unknown, why
		if o != nil {
			s, text = e.inLines(o.out, id)
		}
		f(name, id, s, text)
	}
	return nil
}

func (e *executor) idOf(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.leases[name]; l != nil {
		return l.ID
	}
	return ""
}

// ask asks for one job. An unreadable answer gives the state unknown, with the reason.
func (e *executor) ask(ctx context.Context, id string) (state, string) {
	words, err := e.status.expand(values{"id": {id}})
	if err != nil {
		return unknown, err.Error()
	}
	o, err := e.run(ctx, e.store.dir, words)
	switch {
	case err != nil:
		return unknown, err.Error()
	case o.blank():
		return e.inSilence(o)
	}
	s := e.stateIn(o.all())
	if s == unknown {
		return s, o.failed(o.exited()).Error()
	}
	return s, o.all()
}

// inSilence returns the state of a job of which the system says nothing. Some say nothing of a job that has ended, and
// their pattern ended matches that; others while they begin, and then the job may run. A command that was killed says
// nothing of its job.
func (e *executor) inSilence(o *output) (state, string) {
	switch {
	case o.status >= 0 && e.ended.MatchString(""):
		return absent, ""
	case o.status != 0:
		return unknown, o.failed(o.exited()).Error()
	}
	return unknown, o.words[0] + ` printed nothing; if it does so for a job that has ended, let the option ended ` +
		`match that, too: …|\A\z`
}

// askAll asks for all jobs. Without an answer it returns the reason.
func (e *executor) askAll(ctx context.Context) (*output, string) {
	words, err := e.status.expand(nil)
	if err != nil {
		return nil, err.Error()
	}
	o, err := e.run(ctx, e.store.dir, words)
	if err != nil {
		return nil, err.Error()
	}
	if o.status != 0 {
		return nil, o.failed(o.exited()).Error()
	}
	return o, ""
}

// inLines returns the state of a job in a list of jobs.
func (e *executor) inLines(text, id string) (state, string) {
	for line := range strings.Lines(text) {
		if first, _, _ := strings.Cut(strings.TrimSpace(line), " "); first == id || strings.HasPrefix(first, id+".") {
			return e.stateIn(line), line
		}
	}
	return absent, ""
}

// stateIn reads a state. If several patterns match, the first one counts: for a job that has
// ended, some systems also print where it was running.
func (e *executor) stateIn(text string) state {
	text = strings.ReplaceAll(text, "\n\t", "") // qstat -f breaks long lines
	for _, p := range []struct {
		re *regexp.Regexp
		s  state
	}{{e.ended, ended}, {e.running, running}, {e.pending, pending}} {
		if p.re != nil && p.re.MatchString(text) {
			return p.s
		}
	}
	return unknown
}

// goneAfter is how often in a row the system must say nothing of a job until it has ended: a list may be cut short.
const goneAfter = 2

// noteState notes the state of a lease's job.
func (e *executor) noteState(name, id string, s state, text string) {
	e.mu.Lock()
	l := e.leases[name]
	if l == nil || l.ID != id || id == "" {
		e.mu.Unlock()
		return // it was released meanwhile
	}
	vanished := false
	if s != absent {
		l.gone = 0
	} else if l.gone++; l.gone >= goneAfter {
		s, vanished = ended, true
	}
	e.mu.Unlock()
	switch s {
	case ended:
		if e.swapped(name, l) {
			return
		}
		_ = e.lose(name, e.epitaph(name, id, l)) // the record is written again with the next change
		if vanished {
			e.noteVanished(id)
		}
	case running:
		e.runs(name, l, text)
	case pending:
		e.waits(name, l, "job "+id+" waits")
	case unknown:
		e.waits(name, l, "job "+id+": "+text)
	}
}

// noteVanished notes the job of a lost lease for cancelVanished.
func (e *executor) noteVanished(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.vanished = append(e.vanished, id)
}

// swapped reports whether another job than the known one has begun for a lease. If the answer of
// the first submit was lost, a lease has two jobs, and the second one to begin ends at once.
func (e *executor) swapped(name string, l *lease) bool {
	own := e.begunID(name)
	if own == "" || own == e.idOf(name) {
		return false
	}
	return e.change(func() { l.ID, l.gone = own, 0 }) == nil
}

// epitaph returns how a job ended, and where.
func (e *executor) epitaph(name, id string, l *lease) string {
	if failed := e.store.note(name + failedSuffix); failed != nil {
		return fmt.Sprintf("job %s has ended: %s", id, oneLine(failed[0]))
	}
	said := fmt.Sprintf("job %s%s has ended", id, e.onNodes(name, l))
	if last := e.store.lastLine(name); last != "" {
		said += "; the last that it printed: " + last
	}
	return said
}

// onNodes says on which nodes the job of a lease runs, as far as it is known.
func (e *executor) onNodes(name string, l *lease) string {
	e.mu.Lock()
	granted, apart := l.Granted, e.apart
	e.mu.Unlock()
	var nodes []string
	add := func(node string) {
		if !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	for i := range l.Bundles {
		if note := e.store.note(fmt.Sprint(name, placeSuffix, i)); note != nil {
			add(oneLine(note[0]))
		}
	}
	if len(nodes) == 0 && !apart { // else they may be no names of nodes
		for _, b := range granted {
			add(b.Node)
		}
	}
	switch len(nodes) {
	case 0:
		return ""
	case 1:
		return " on the node " + nodes[0]
	}
	return " on the nodes " + strings.Join(nodes, ",")
}

// waits reports why a lease waits, if that is new. An unknown state of a granted lease does
// not matter, because its agents show whether it lives.
func (e *executor) waits(name string, l *lease, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.Granted == nil {
		l.Began = time.Now().UnixNano()
		if why = oneLine(why); why != l.why {
			l.why = why
			e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeasePending, Why: why})
		}
	}
	e.endSoon(name, l)
}

// runs grants a lease whose job runs.
func (e *executor) runs(name string, l *lease, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.Granted == nil {
		places := e.places(name, l, text)
		if node := twice(places); l.Spread && node != "" {
			e.endCrowded(name, l, node)
			return
		}
		if places == nil {
			return
		}
		l.Granted = places
		if err := e.store.write(e.leases); err != nil {
			l.Granted = nil // told once it is written
			return
		}
		e.tell(e.grantedEvent(name, l))
	}
	e.endSoon(name, l)
}

// twice returns a node with several bundles, or "".
func twice(places []sdk.GrantedBundle) string {
	for i, p := range places {
		if slices.ContainsFunc(places[:i], func(o sdk.GrantedBundle) bool { return o.Node == p.Node }) {
			return p.Node
		}
	}
	return ""
}

// endCrowded ends a job with bundles that must not share a node and do, and refuses its lease. It is
// repeated as long as the job runs. e.mu is held.
func (e *executor) endCrowded(name string, l *lease, node string) {
	if l.crowded {
		return
	}
	l.crowded = true
	e.done.Go(func() {
		if err := e.cancelJob(e.ctx, e.idOf(name)); err != nil {
			e.mu.Lock()
			l.crowded = false
			e.mu.Unlock()
			return
		}
		_ = e.refuse(name, fmt.Sprintf("several bundles are on the node %s, and strict_spread needs different nodes: "+
			"have submit and launch put one on each", node))
	})
}

func (e *executor) grantedEvent(name string, l *lease) sdk.LeaseEvent {
	return sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseGranted, Bundles: l.Granted, Until: e.until(l)}
}

// until returns the earliest end of a lease, as far as it is known.
func (e *executor) until(l *lease) time.Time {
	if e.time == 0 || l.Began == 0 {
		return time.Time{}
	}
	return time.Unix(0, l.Began).Add(e.time)
}

// endSoon gives notice of the end of the wall time, once. e.mu is held.
func (e *executor) endSoon(name string, l *lease) {
	until := e.until(l)
	if l.Granted == nil || l.ending || until.IsZero() || e.notice == 0 || time.Until(until) > e.notice {
		return
	}
	l.ending = true
	e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseEnding, Until: until, Why: "the wall time of its job ends"})
}
