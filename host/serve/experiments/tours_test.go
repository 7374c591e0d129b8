package experiments

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// ended is an experiment whose record has more events than a tour reads and keeps at a time.
func ended(t *testing.T) (*Shared, uint64) {
	t.Helper()
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "x"), []byte(strings.Replace(source, "trials: 3", "trials: 60", 1)), 1)
	w.Iterations = 1000
	w.Start(2)
	w.Run(-1)
	w.Close()
	c := New(root)
	s, done, err := c.Get("x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done(); c.Close() })
	last := s.feed().Last()
	if last < 60_000 {
		t.Fatalf("there are %d events", last)
	}
	return s, last
}

// numbers are those of all events, by a reader of its own.
func numbers(t *testing.T, s *Shared) (list []uint64) {
	t.Helper()
	log, err := s.eventLog()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for {
		events, err := log.Rest(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return list
		}
		for i := range events {
			list = append(list, events[i].Number)
		}
	}
}

// whole reads events to their end. It fails if one is missing or comes twice.
func whole(t *testing.T, s *Shared, all []uint64, after uint64) {
	t.Helper()
	var got []uint64
	err := s.Events(t.Context(), int64(after), func(list []view.Event) error {
		for i := range list {
			got = append(got, list[i].Number)
		}
		return nil
	})
	want := all
	for len(want) > 0 && want[0] <= after {
		want = want[1:]
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("after %d come %d events, want %d: %v", after, len(got), len(want), err)
	}
}

// B-143: readers of all that has happened share a reader of the record, wherever they begin; each gets every event
// once.
func TestReadersShare(t *testing.T) {
	s, last := ended(t)
	all := numbers(t, s)
	var readers sync.WaitGroup
	for i := range 20 {
		readers.Go(func() { whole(t, s, all, last/20*uint64(i)) })
	}
	readers.Wait()
	s.tours.mu.Lock()
	defer s.tours.mu.Unlock()
	if n := len(s.tours.all); n > 0 {
		t.Errorf("%d tours are left", n)
	}
	if s.tours.made >= 20 {
		t.Errorf("20 readers have read the record %d times", s.tours.made)
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.watchers != 0 {
		t.Errorf("%d watch", s.watchers)
	}
}

// Readers that take nothing do not keep others from reading: their streams end, and can be continued by number.
func TestSlowReadersGiveWay(t *testing.T) {
	s, _ := ended(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	release, stalled := make(chan struct{}), make(chan error, mostTours)
	for i := range mostTours { // each begins before the others, so that none can join another
		begun := make(chan struct{})
		first := sync.OnceFunc(func() { close(begun) })
		go func() {
			stalled <- s.Events(ctx, int64(mostTours-i)*1000, func([]view.Event) error {
				first()
				<-release
				return nil
			})
		}()
		<-begun
	}
	s.tours.mu.Lock()
	if n := len(s.tours.all); n != mostTours {
		t.Fatalf("there are %d tours", n)
	}
	for _, tour := range s.tours.all {
		for r := range tour.riders {
			r.took = r.took.Add(-2 * slow)
		}
	}
	s.tours.mu.Unlock()
	whole(t, s, numbers(t, s), 0)
	close(release)
	cut := 0
	for range mostTours {
		if err := <-stalled; errors.Is(err, errSlow) {
			cut++
		} else if err != nil {
			t.Error(err)
		}
	}
	if cut == 0 {
		t.Error("nobody was put down")
	}
}
