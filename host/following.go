package host

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/storage"
)

// following reads the record from its beginning, beside the host that writes
// it, and makes of it the events that reporters were told or would have been.
type following struct {
	dir      *journal.Dir
	reader   *journal.Reader
	machine  *core.Machine
	narrator *narrator
	events   []report.Event // read and not handed out
}

// follow begins to read a record.
func follow(e *config.Experiment, d storage.Dir, seed uint64) (*following, error) {
	dir, err := journal.OpenDir(d.Journal())
	if err != nil {
		return nil, err
	}
	m := core.New()
	return &following{dir: dir, reader: journal.NewReader(dir), machine: m, narrator: newNarrator(m, newTrials(m, e, d, seed))}, nil
}

func (f *following) close() {
	_, _ = f.reader.Close(), f.dir.Close() // open for reading only
}

// next returns the events after one, up to another that is in the record: some of
// them at a time, none when there are no more.
func (f *following) next(ctx context.Context, after, through uint64) ([]report.Event, error) {
	for len(f.events) < mostTold && f.narrator.last() < through {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		_, records, err := f.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the record ends before event %d", through)
		}
		if err != nil {
			return nil, err
		}
		for _, b := range records {
			if err := f.apply(b, after); err != nil {
				return nil, err
			}
		}
	}
	return f.take(through), nil
}

// take hands out what may be told already.
func (f *following) take(through uint64) []report.Event {
	n := 0
	for n < min(len(f.events), mostTold) && f.events[n].Number <= through {
		n++
	}
	events := f.events[:n:n]
	f.events = f.events[n:]
	return events
}

// apply applies a record; events up to after are not kept.
func (f *following) apply(b []byte, after uint64) error {
	at, e, err := record.Parse(b)
	if err != nil {
		return err
	}
	actions := f.machine.Apply(at, e)
	f.narrator.heard(e, func(x report.Event) { f.keep(x, after) })
	for _, a := range actions {
		t, ok := a.(core.Tell)
		switch {
		case !ok || t.Observation.To&core.ToReporters == 0:
		case f.narrator.number(t.Observation) <= after:
			f.narrator.follow(t.Observation)
		default:
			f.keep(f.narrator.event(t.Observation), after)
		}
	}
	return nil
}

func (f *following) keep(e report.Event, after uint64) {
	if e.Number > after {
		f.events = append(f.events, e)
	}
}
