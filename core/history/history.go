package history

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
)

// History is an experiment's record from its beginning, and the experiment as it stands after what was read of it. It
// is for one goroutine.
type History struct {
	name   string // of the record in errors; "" where the caller says it
	source Source // nil where there is none

	step  Step     // the last one
	batch [][]byte // not applied yet
	hosts []host
}

// host is one host process: from is the running time at which it took the experiment up, wall the time of day at
// running time 0 as it counted.
type host struct{ from, wall int64 }

// New returns a History of nothing yet, for [History.Replay] and [History.Apply].
func New() *History { return &History{step: Step{Machine: core.New()}} }

// From begins to read a Source, which Close closes.
func From(s Source) *History {
	h := New()
	h.source = s
	return h
}

// Open begins to read the record in a directory; [journal.ErrNoJournal] where that is not there. Errors of the History
// name the directory.
func Open(dir string) (*History, error) {
	files, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	h := From(directory{journal.NewReader(files), files})
	h.name = dir
	return h, nil
}

// Walk calls f with each entry of the record in a directory, right after it was applied.
func Walk(dir string, f func(*Step) error) error {
	h, err := Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(h.Each(f), h.Close())
}

// Close lets go of the record. What was read of it stands.
func (h *History) Close() error {
	if h.source == nil {
		return nil
	}
	return h.source.Close()
}

// Machine is the experiment as it stands: look, and apply nothing.
func (h *History) Machine() *core.Machine { return h.step.Machine }

// Hosts is how many hosts have taken the experiment up so far.
func (h *History) Hosts() int { return len(h.hosts) }

// Wall is the time of day, in nanoseconds since 1970, at a running time so far, by the host of that time; false
// before any host.
func (h *History) Wall(at int64) (ns int64, ok bool) {
	i := sort.Search(len(h.hosts), func(i int) bool { return h.hosts[i].from > at })
	if i == 0 {
		return 0, false
	}
	return h.hosts[i-1].wall + at, true
}

// Each calls f with the entries that are there and that were not read before, each right after it was applied. It
// returns nil when there are no more now: call it again later. Where f returns an error, or [ErrStop], the next call
// goes on after that entry.
//
// Errors: those of f, as they are. All others say what is wrong with the record, and where; what was read before
// stands.
// [journal.ErrCorrupt]: it is damaged, or of no experiment. [journal.ErrRewound]: a crash has taken back what was read;
// read it anew. [record.ErrNewer], [journal.ErrNewerFormat]: a newer host has written it.
func (h *History) Each(f func(*Step) error) error { return h.Visit(Visitor{After: f}) }

// Visit is [History.Each] for a Visitor.
func (h *History) Visit(v Visitor) error {
	for {
		if more, err := h.fill(); !more {
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

// Replay returns a [journal.Replay] that reads what a journal has while a host opens it. The Visitor cannot stop it but
// with an error.
func (h *History) Replay(v Visitor) journal.Replay {
	return func(first uint64, records [][]byte) error {
		h.batch, h.step.Number = records, first-1
		return h.walk(v)
	}
}

// Apply takes the next record, which a host has just written. What the core refuses is a panic here: such a record
// cannot have been made by the host itself. The Step is valid until the next one.
func (h *History) Apply(b []byte) (*Step, error) {
	if err := h.parse(b); err != nil {
		return nil, err
	}
	h.apply()
	return &h.step, nil
}

// fill reads on where all was applied, and says whether there is something.
func (h *History) fill() (more bool, err error) {
	if len(h.batch) > 0 {
		return true, nil
	}
	if h.source == nil {
		return false, nil
	}
	first, records, err := h.source.Next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, h.named(err)
	}
	h.batch, h.step.Number = records, first-1
	return true, nil
}

// walk takes what was read. What goes wrong with an entry, also what the core or the Visitor refuses with a panic, is
// an error that names its number.
func (h *History) walk(v Visitor) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &entryError{h.step.Number, senseless(p)}
		}
	}()
	for len(h.batch) > 0 {
		if err := h.parse(h.batch[0]); err != nil {
			return err
		}
		if v.Before != nil {
			if err := v.Before(h.step.Entry); err != nil {
				h.step.Number--
				return err
			}
		}
		h.batch = h.batch[1:]
		h.apply()
		if v.After != nil {
			if err := v.After(&h.step); err != nil {
				return err
			}
		}
	}
	return nil
}

// parse makes the next record the Step, without applying it.
func (h *History) parse(b []byte) error {
	at, e, err := record.Parse(b)
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

// placed names the record, where the error is not the Visitor's.
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
