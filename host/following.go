package host

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/recorded"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/storage"
)

// following reads the record from its beginning, beside the host that writes
// it, and makes of it the events that reporters were told or would have been.
type following struct {
	reader   *recorded.Reader
	machine  *core.Machine
	narrator *narrator
	events   []report.Event // read and not handed out
}

// follow begins to read a record.
func follow(e *config.Experiment, d storage.Dir, seed uint64) (*following, error) {
	reader, err := recorded.Open(d.Journal())
	if err != nil {
		return nil, err
	}
	m := core.New()
	return &following{reader: reader, machine: m, narrator: newNarrator(m, newTrials(m, e, d, seed))}, nil
}

func (f *following) close() {
	_ = f.reader.Close() // open for reading only
}

// next returns the events after one, up to another that is in the record: some of
// them at a time, none when there are no more.
func (f *following) next(ctx context.Context, after, through uint64) ([]report.Event, error) {
	enough := func() bool { return len(f.events) >= mostTold || f.narrator.last() >= through }
	if !enough() {
		err := f.reader.Each(func(x recorded.Entry) error {
			f.apply(x, after)
			if enough() {
				return recorded.ErrStop
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	if !enough() {
		return nil, fmt.Errorf("the record ends before event %d", through)
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

// apply applies an event; what is told up to after is not kept.
func (f *following) apply(x recorded.Entry, after uint64) {
	actions := f.machine.Apply(x.At, x.Event)
	f.narrator.heard(x.Event, func(e report.Event) { f.keep(e, after) })
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
}

func (f *following) keep(e report.Event, after uint64) {
	if e.Number > after {
		f.events = append(f.events, e)
	}
}
