package record

import "github.com/tunehost/tunehost/core"

// A Pool parses records into events that it uses again. Most records are results and decisions: those take no new
// memory. A nil Pool makes new events.
type Pool struct {
	results   used[core.ResultReported]
	decisions used[core.SchedulerDecided]
}

// Free says that nobody needs the events any more that were parsed so far.
func (p *Pool) Free() {
	if p != nil {
		p.results.n, p.decisions.n = 0, 0
	}
}

// event returns an empty event of a kind; nil: there is no such kind.
func (p *Pool) event(kind uint64) core.Event {
	switch {
	case p == nil:
	case kind == kindResultReported:
		e := p.results.next()
		*e = core.ResultReported{Metrics: e.Metrics[:0]}
		return e
	case kind == kindSchedulerDecided:
		e := p.decisions.next()
		*e = core.SchedulerDecided{Decisions: e.Decisions[:0]}
		return e
	}
	return newEvent(kind)
}

// used are values, of which the first n are in use.
type used[T any] struct {
	all []*T
	n   int
}

func (u *used[T]) next() *T {
	if u.n == len(u.all) {
		u.all = append(u.all, new(T))
	}
	u.n++
	return u.all[u.n-1]
}
