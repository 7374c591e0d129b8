package experiments

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// B-143: readers who come back with the number of the last event that they have miss nothing, and get nothing twice:
// the first of them comes when the server has read a part of the record for others, and more is recorded meanwhile.
func TestReadersComeBack(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "x"), []byte(source), 1)
	lock, err := journal.LockDir(w.Dir.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.Start(1)
	w.Run(1)
	c := New(root)
	defer c.Close()
	s, done, err := c.Get("x")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	w.Run(1)
	if !s.Runs() {
		t.Fatal("no host runs it")
	}
	early := numbers(t, s)
	got := make([]chan []uint64, len(early))
	for i, after := range early {
		got[i] = make(chan []uint64, 1)
		begun := make(chan struct{})
		go follow(t, s, after, begun, got[i])
		<-begun
		w.Run(1)
	}
	w.Run(-1)
	w.Close()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	all := numbers(t, s)
	for i, after := range early {
		if list, want := <-got[i], all[i+1:]; !slices.Equal(list, want) {
			t.Errorf("after %d come %d, want %d", after, list, want)
		}
	}
}

// follow sends the numbers of all events after one, at their end.
func follow(t *testing.T, s *Shared, after uint64, begun chan struct{}, to chan<- []uint64) {
	var list []uint64
	err := s.Events(t.Context(), int64(after), func(events []view.Event) error {
		for i := range events {
			list = append(list, events[i].Number)
		}
		if begun != nil {
			close(begun)
			begun = nil
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	to <- list
}
