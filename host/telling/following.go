package telling

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/recorded"
	"github.com/tunehost/tunehost/host/report"
)

// Following reads the record from its beginning, beside the host that writes
// it, and makes of it the events that reporters were told or would have been.
type Following struct {
	reader   *recorded.Reader
	machine  *core.Machine
	narrator *Narrator
	events   []report.Event // read and not handed out
}

// Trials says what is said of the trials of a machine.
type Trials func(*core.Machine) func(core.TrialNo) report.Trial

// Follow begins to read the record in a directory.
func Follow(record string, trials Trials) (*Following, error) {
	reader, err := recorded.Open(record)
	if err != nil {
		return nil, err
	}
	m := core.New()
	return &Following{reader: reader, machine: m, narrator: NewNarrator(m, trials(m))}, nil
}

// Close lets go of the record.
func (f *Following) Close() {
	_ = f.reader.Close() // open for reading only
}

// Next returns the events after one, up to another that is in the record: some of
// them at a time, none when there are no more.
func (f *Following) Next(ctx context.Context, after, through uint64) ([]report.Event, error) {
	enough := func() bool { return len(f.events) >= mostTold || f.narrator.Last() >= through }
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
func (f *Following) take(through uint64) []report.Event {
	n := 0
	for n < min(len(f.events), mostTold) && f.events[n].Number <= through {
		n++
	}
	events := f.events[:n:n]
	f.events = f.events[n:]
	return events
}

// apply applies an event; what is told up to after is not kept.
func (f *Following) apply(x recorded.Entry, after uint64) {
	actions := f.machine.Apply(x.At, x.Event)
	f.narrator.Heard(x.Event, func(e report.Event) { f.keep(e, after) })
	for _, a := range actions {
		t, ok := a.(core.Tell)
		switch {
		case !ok || t.Observation.To&core.ToReporters == 0:
		case f.narrator.Number(t.Observation) <= after:
			f.narrator.Follow(t.Observation)
		default:
			f.keep(f.narrator.Event(t.Observation), after)
		}
	}
}

func (f *Following) keep(e report.Event, after uint64) {
	if e.Number > after {
		f.events = append(f.events, e)
	}
}
