package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
)

// A History reads an experiment's record from the beginning and holds the state of the experiment
// so far. It is not safe for concurrent use.
type History struct {
	name   string // of the record in errors; "" if the caller adds it
	source Source // nil if there is none

	step    Step    // the last one
	batch   batch   // being applied
	applied int     // how many entries of batch
	decoded []batch // what follows it, if it was decoded ahead
	ahead   *ahead  // decodes what follows; nil: fill does
	reuses  bool    // see Reuse
	hosts   []host
}

// A host is one host process: from is the running time at which it resumed the experiment, wall the
// time of day at running time 0 by its clock.
type host struct{ from, wall int64 }

// New returns an empty History, for [History.Replay] and [History.Apply].
func New() *History { return &History{step: Step{Machine: core.New()}} }

// From reads a Source. Close closes the source.
func From(s Source) *History {
	h := New()
	h.source = s
	return h
}

// Open reads the record in a directory. It returns [journal.ErrNoJournal] if there is none. Errors
// of the History name the directory.
func Open(dir string) (*History, error) {
	files, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	h := From(directory{journal.NewReader(files), files})
	h.name = dir
	return h, nil
}

// Reuse says, before anything is read, that nobody keeps an Event, or what is in one, longer than the call that it is
// passed to: later entries take its memory. It is for readers that follow a record, and for simulations.
func (h *History) Reuse() { h.reuses, h.batch = true, newBatch(true) }

// Event decodes the Bytes of an entry that a reader has kept. The event shares memory with them.
func Event(b []byte) (core.Event, error) {
	_, e, err := record.Parse(b)
	return e, err
}

// Walk calls f with each entry of the record in a directory, after it is applied.
func Walk(dir string, f func(*Step) error) error {
	h, err := Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(h.Each(f), h.Close())
}

// Close closes the source. The state stays available.
func (h *History) Close() error {
	if h.source == nil {
		return nil
	}
	return h.source.Close()
}

// WallBy returns the time of day at a running time by the clock of one host, from 1.
func (h *History) WallBy(host int, at int64) (ns int64, ok bool) {
	if host < 1 || host > len(h.hosts) {
		return 0, false
	}
	return h.hosts[host-1].wall + at, true
}

// Machine returns the state of the experiment. Do not apply anything to it.
func (h *History) Machine() *core.Machine { return h.step.Machine }

// Number returns the number of the last applied entry; 0: none.
func (h *History) Number() uint64 { return h.step.Number }

// Hosts returns the number of hosts that have run the experiment so far.
func (h *History) Hosts() int { return len(h.hosts) }

// Wall returns the time of day, in nanoseconds since 1970, at a past running time, by the clock of
// the host of that time. It returns false before the first host.
func (h *History) Wall(at int64) (ns int64, ok bool) {
	i := sort.Search(len(h.hosts), func(i int) bool { return h.hosts[i].from > at })
	if i == 0 {
		return 0, false
	}
	return h.hosts[i-1].wall + at, true
}

// Newer reports whether a record cannot be read because a newer host wrote it.
func Newer(err error) bool {
	return errors.Is(err, journal.ErrNewerFormat) || errors.Is(err, record.ErrNewer)
}

// Each calls f with the available entries that were not read before, after each is applied. It
// returns nil when there are no more entries now; it may be called again later. If f returns an
// error or [ErrStop], the next call continues after that entry.
//
// Errors of f are returned unchanged. All other errors say what is wrong with the record, and
// where; the state before the error remains valid. [journal.ErrCorrupt]: the record is damaged or
// describes no experiment. [journal.ErrRewound]: a crash removed events that were read; start
// again. [Newer] ones: a newer host wrote it.
func (h *History) Each(f func(*Step) error) error { return h.Visit(Visitor{After: f}) }

// Visit is like [History.Each], for a Visitor.
func (h *History) Visit(v Visitor) error {
	defer h.halt()
	begun := h.step.Number
	for {
		if more, err := h.fill(h.step.Number-begun >= aheadAfter); !more {
			return err
		}
		switch err := h.walk(v); {
		case err == nil:
		case errors.Is(err, ErrStop):
			return nil
		default:
			return h.placed(err)
		}
	}
}

// halt ends reading ahead. What was decoded is applied by the next visit, which looks whether there is more.
func (h *History) halt() {
	if h.batch.end == io.EOF {
		h.batch.end = nil
	}
	if h.ahead != nil {
		h.decoded, h.ahead = h.ahead.halt(), nil
	}
}

// Replay returns a [journal.Replay] that reads the existing events of a journal while a host opens
// it. The Visitor can stop it only with an error.
func (h *History) Replay(v Visitor) journal.Replay {
	return func(first uint64, records [][]byte) error {
		h.batch, h.applied = h.batch.empty(), 0
		h.batch.add(first, records, false)
		return cmp.Or(h.walk(v), h.batch.end)
	}
}

// Apply takes the next record, which the host has just written. It panics if the core refuses the
// event, since a host cannot record such an event. The Step is valid until the next one.
func (h *History) Apply(b []byte) (*Step, error) {
	if err := h.parse(b); err != nil {
		return nil, err
	}
	h.apply()
	return &h.step, nil
}

// fill decodes more entries if all were applied, and reports whether there are any. An error of an
// entry stays; after another one, the source is asked again.
func (h *History) fill(long bool) (more bool, err error) {
	for h.applied == len(h.batch.entries) {
		switch end := h.batch.end.(type) {
		case *entryError:
			return false, h.named(end)
		case nil:
			if h.source == nil {
				return false, nil
			}
			h.batch, h.applied = h.next(long), 0
		default:
			h.batch.end = nil
			if end == io.EOF {
				return false, nil
			}
			return false, h.named(end)
		}
	}
	return true, nil
}

// someEntries is about how many entries are decoded before they are applied: so many stay in the processor's cache.
const someEntries = 64

// next returns the next batch. Of a long record it is decoded ahead.
func (h *History) next(long bool) batch {
	if len(h.decoded) > 0 {
		b := h.decoded[0]
		h.decoded = h.decoded[1:]
		return b
	}
	if h.ahead == nil && long {
		h.ahead = readAhead(h.source, h.reuses)
	}
	if h.ahead != nil {
		return h.ahead.next(h.batch)
	}
	b := h.batch.empty()
	for len(b.entries) < someEntries && b.end == nil {
		b.read(h.source)
	}
	return b
}

// walk applies the batch. Errors, and panics of the core or the Visitor, become errors that name
// the number of the entry.
func (h *History) walk(v Visitor) (err error) {
	number := h.step.Number
	defer func() {
		if p := recover(); p != nil {
			err = &entryError{number, senseless(p)}
		}
	}()
	for h.applied < len(h.batch.entries) {
		e := h.batch.entries[h.applied]
		number = e.Number
		if v.Before != nil {
			if err := v.Before(e); err != nil {
				return err
			}
		}
		h.applied++
		h.step.Entry = e
		h.apply()
		if v.After != nil {
			if err := v.After(&h.step); err != nil {
				return err
			}
		}
	}
	return nil
}

// parse decodes the next record into the Step, without applying it.
func (h *History) parse(b []byte) error {
	h.batch.pool.Free()
	at, e, err := h.batch.pool.Parse(b)
	if err != nil {
		return &entryError{h.step.Number + 1, err}
	}
	h.step.Entry = Entry{h.step.Number + 1, at, e, b}
	return nil
}

// apply applies the Step's event.
func (h *History) apply() {
	m := h.step.Machine
	h.step.Actions = m.Apply(h.step.At, h.step.Event)
	if _, ok := h.step.Event.(*core.HostStarted); ok {
		h.hosts = append(h.hosts, host{m.Now(), m.Wall(0)})
	}
}

// placed adds the name of the record to errors that are not the Visitor's.
func (h *History) placed(err error) error {
	if _, own := err.(*entryError); own {
		return h.named(err)
	}
	return err
}

func (h *History) named(err error) error {
	if h.name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", h.name, err)
}
