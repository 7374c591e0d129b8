package view

import (
	"context"
	"testing"
)

func numbered(from, to uint64) (list []Event) {
	for n := from; n <= to; n++ {
		list = append(list, Event{Number: n})
	}
	return list
}

// A feed returns the events after a number, or says that they are only in the record, and wakes
// waiting readers.
func TestFeed(t *testing.T) {
	f := NewFeed(10)
	if _, through := f.since(4, 5); through != 10 {
		t.Errorf("earlier events must be read up to %d", through)
	}
	changed := f.Changed(10)
	f.Put(numbered(11, 30))
	<-changed
	if got, through := f.since(10, 5); len(got) != 5 || got[0].Number != 11 || through != 0 {
		t.Errorf("%d events, %d", len(got), through)
	}
	if got, _ := f.since(28, 5); len(got) != 2 {
		t.Errorf("%d events after 28", len(got))
	}
	f.End()
	<-f.Changed(30)
}

// A feed forgets the oldest events first, and never exceeds its limit.
func TestFeedForgets(t *testing.T) {
	f := NewFeed(0)
	const many = mostFed / 250
	f.Put(numbered(1, many+10))
	if f.weight > mostFed {
		t.Fatalf("%d bytes", f.weight)
	}
	_, through := f.since(0, 1)
	got, none := f.since(through, 1)
	if through == 0 || none != 0 || len(got) != 1 || got[0].Number != through+1 {
		t.Errorf("up to %d in the record, then %v", through, got)
	}
	// A follower that fell behind reads the record.
	reads := 0
	x := &Follower{feed: f, open: func() (*EventLog, error) { reads++; return nil, context.Canceled }}
	if _, err := x.Next(context.Background()); err == nil || reads != 1 {
		t.Errorf("%d reads, %v", reads, err)
	}
}
