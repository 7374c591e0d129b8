package telling

import (
	"context"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/report"
)

// Following reads the record from its beginning, beside the host that writes
// it, and makes of it the events that reporters were told or would have been.
type Following struct {
	record   *history.History
	narrator *Narrator
	events   []report.Event // read and not handed out
}

// Trials says what is said of the trials of a machine.
type Trials func(*core.Machine) func(core.TrialNo) report.Trial

// Follow begins to read the record in a directory.
func Follow(record string, trials Trials) (*Following, error) {
	h, err := history.Open(record)
	if err != nil {
		return nil, err
	}
	return &Following{record: h, narrator: NewNarrator(h.Machine(), trials(h.Machine()))}, nil
}

// Close lets go of the record.
func (f *Following) Close() {
	_ = f.record.Close() // open for reading only
}

// Next returns the events after one, up to another that is in the record: some of
// them at a time, none when there are no more.
func (f *Following) Next(ctx context.Context, after, through uint64) ([]report.Event, error) {
	enough := func() bool { return len(f.events) >= mostTold || f.narrator.Last() >= through }
	if !enough() {
		err := f.record.Each(func(s *history.Step) error {
			f.narrator.Hear(s, after, f.keep)
			if enough() {
				return history.ErrStop
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

func (f *Following) keep(e report.Event) { f.events = append(f.events, e) }
