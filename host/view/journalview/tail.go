package journalview

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// mostKept is how many entries a Tail keeps: 50 pages of the dashboard, in a few megabytes.
const mostKept = 10_000

// Tail keeps the last entries of a record that is read anyway, so that a page of them needs no reading from the
// beginning. It is for one goroutine at a time.
type Tail struct {
	notes notes
	ring  []kept // entry n is at n-1 modulo most
	last  uint64
	most  uint64
}

// kept is an entry as it was recorded: its event shares memory with the record, and is only valid while that is read.
type kept struct {
	noted
	bytes []byte
}

// NewTail returns the tail of a record of which nothing was read.
func NewTail() *Tail { return newTail(mostKept) }

func newTail(most uint64) *Tail { return &Tail{most: most} }

// After takes the next step of the record, or the first one of a record that is read again.
func (t *Tail) After(s *history.Step) {
	if s.Number <= t.last {
		*t = *newTail(t.most)
	}
	if uint64(len(t.ring)) < t.most {
		t.ring = append(t.ring, kept{})
	}
	t.last = s.Number
	at := t.at(s.Number)
	at.noted, at.bytes = t.notes.take(s, at.noted), append(at.bytes[:0], s.Bytes...)
	at.event = nil
}

func (t *Tail) at(number uint64) *kept { return &t.ring[(number-1)%t.most] }

// entry describes an entry. It shares nothing with what is kept, which may be overwritten soon.
func (t *Tail) entry(number uint64, m *core.Machine) *Entry {
	n := t.at(number).noted
	e, err := history.Event(slices.Clone(t.at(number).bytes))
	if err != nil {
		return nil // not of a record that was read without an error
	}
	n.event = e
	return n.describe(m)
}

// Bytes estimates how much memory it takes.
func (t *Tail) Bytes() int64 { return int64(len(t.ring)) * perEntry }

// perEntry is about how much memory an entry takes, with its event.
const perEntry = 300

// Page is [Page] from what is kept; ok is false if earlier entries are wanted. The machine is that of the record.
func (t *Tail) Page(m *core.Machine, w Wanted) (list []*Entry, next uint64, ok bool) {
	if w.After+uint64(len(t.ring)) < t.last || w.Through > t.last {
		return nil, 0, false
	}
	p := page{Wanted: w, next: w.Through}
	for number := w.After + 1; number <= w.Through; number++ {
		e := t.entry(number, m)
		if e == nil {
			return nil, 0, false
		}
		if !p.add(e) {
			break
		}
	}
	return p.list, p.next, true
}
