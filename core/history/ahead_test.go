package history_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
)

// long is a record whose later part is decoded ahead.
const long = 120_000

// writeLong writes entries up to number long, and then raw records.
func writeLong(t *testing.T, more ...[]byte) *writing {
	w := write(t)
	w.ticksTo(2, long)
	if len(more) > 0 {
		w.append(more...)
	}
	return w
}

// ticksTo appends the entries with these numbers, in batches of 100.
func (w *writing) ticksTo(first, last int64) {
	for list := range slices.Chunk(upTo(first, last), 100) {
		w.ticks(list)
	}
}

func upTo(first, last int64) (list []int64) {
	for at := first; at <= last; at++ {
		list = append(list, at)
	}
	return list
}

// A long record has the same entries, wherever a visit ends, and also those that come later.
func TestLongRecord(t *testing.T) {
	w := writeLong(t)
	h := w.open()
	var all []int64
	for _, until := range []uint64{1, 32_768, 32_769, 32_770, 50_000, 119_999, 0, 0} {
		times, err := read(t, h, until)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, times...)
	}
	w.ticksTo(long+1, 2*long)
	times, err := read(t, h, 0)
	if all = append(all, times...); err != nil || !slices.Equal(all, upTo(1, 2*long)) {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

// A bad entry of a long record ends it there, each time that it is read.
func TestDamageOfLongRecord(t *testing.T) {
	h := writeLong(t, encode(t, long+1, &core.Ticked{}), []byte{0, 99}, encode(t, long+2, &core.Ticked{})).open()
	for range 2 {
		err := h.Each(func(*history.Step) error { return nil })
		if !errors.Is(err, record.ErrNewer) || !strings.Contains(err.Error(), "journal: record 120002: ") {
			t.Error(err)
		}
		if h.Number() != long+1 {
			t.Errorf("read up to %d", h.Number())
		}
	}
}

// An error of the caller, and a panic, end the visit of a long record at that entry; the next visit continues.
func TestLongRecordIsLeft(t *testing.T) {
	h := writeLong(t).open()
	no := errors.New("no")
	if err := h.Each(func(s *history.Step) error {
		if s.Number == 50_000 {
			return no
		}
		return nil
	}); err != no {
		t.Error(err)
	}
	err := h.Each(func(s *history.Step) error {
		if s.Number == 100_000 {
			panic("senseless")
		}
		return nil
	})
	if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "record 100000: ") {
		t.Error(err)
	}
	if times, err := read(t, h, 0); err != nil || !slices.Equal(times, upTo(100_001, long)) {
		t.Errorf("%d entries, %v", len(times), err)
	}
}

// A reader for which events are used again sees the same ones as another, also those that are decoded ahead.
func TestReuse(t *testing.T) {
	w := write(t)
	for at := int64(2); at < long; at += 100 {
		var records [][]byte
		for i := range int64(100) {
			records = append(records, encode(t, at+i, varied(uint64(at+i))))
		}
		w.append(records...)
	}
	h := w.open()
	h.Reuse()
	if err := h.Each(func(s *history.Step) error {
		if again := encode(t, s.At, s.Event); !bytes.Equal(again, s.Bytes) {
			t.Fatalf("entry %d: %x became %x", s.Number, s.Bytes, again)
		}
		return nil
	}); err != nil || h.Number() != long+1 {
		t.Errorf("read up to %d: %v", h.Number(), err)
	}
}

// varied returns results and decisions, of which each has other fields than the one before.
func varied(n uint64) core.Event {
	if n%3 == 0 {
		e := &core.SchedulerDecided{Through: n % 2}
		for i := range n % 4 {
			e.Decisions = append(e.Decisions, core.Decision{Number: n + i, Reason: strings.Repeat("r", int(n%2))})
		}
		if n%5 == 0 {
			e.Commands = []core.Command{{Kind: core.Resume, Trial: core.TrialNo(n)}}
		}
		return e
	}
	e := &core.ResultReported{Trial: core.TrialNo(n), Attempt: 1, Done: n%2 == 0}
	for i := range n % 5 {
		e.Metrics = append(e.Metrics, core.Metric{ID: core.MetricID(i + 1), Value: float64(n)})
	}
	if n%7 == 0 {
		e.Values, e.Checkpoint = []byte(`{"a":1}`), "there"
		e.Stop = &core.Cause{Kind: core.CauseExpression, Text: "x > 1"}
	}
	return e
}
