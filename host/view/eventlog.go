package view

import (
	"context"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/core/history"
)

// mostEvents is how many events are returned at a time.
const mostEvents = 4096

// EventLog reads the record from its beginning, while a host may write it, and makes the events that
// reporters were told or would have been told.
type EventLog struct {
	record  *history.History
	builder *EventBuilder
	events  []Event // read and not yet returned
}

// NewEventLog begins to read a record; Close closes the record.
func NewEventLog(f *Facts, h *history.History) *EventLog {
	return &EventLog{record: h, builder: NewEventBuilder(h.Machine(), NewSubjects(NewState(f, h)).Of)}
}

// Close closes the record.
func (f *EventLog) Close() {
	_ = f.record.Close() // open for reading only
}

// Next returns the events after one, up to another that is in the record: some of them at a time, none
// at the end.
func (f *EventLog) Next(ctx context.Context, after, through uint64) ([]Event, error) {
	enough := func() bool { return len(f.events) >= mostEvents || f.builder.Last() >= through }
	if !enough() {
		err := f.record.Each(func(s *history.Step) error {
			f.builder.Hear(s, after, f.keep)
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

// Rest returns the events after one that are in the record now: some of them at a time, none if there
// are no more yet.
func (f *EventLog) Rest(ctx context.Context, after uint64) ([]Event, error) {
	if len(f.events) == 0 {
		err := f.record.Each(func(s *history.Step) error {
			f.builder.Hear(s, after, f.keep)
			if len(f.events) >= mostEvents {
				return history.ErrStop
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return f.take(math.MaxUint64), nil
}

// take returns the events up to a number.
func (f *EventLog) take(through uint64) []Event {
	n := 0
	for n < min(len(f.events), mostEvents) && f.events[n].Number <= through {
		n++
	}
	events := f.events[:n:n]
	f.events = f.events[n:]
	return events
}

func (f *EventLog) keep(e Event) { f.events = append(f.events, e) }
