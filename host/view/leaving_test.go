package view_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// While the host of an interrupted experiment waits for its executor, nobody is told to resume it.
func TestHostThatLeaves(t *testing.T) {
	w := viewtest.New(filepath.Join(t.TempDir(), "digits"), []byte("version: 1\n"+
		"objective: {metric: accuracy, mode: max}\nexecutor: fake\nspace: {lr: {uniform: [0, 1]}}\ntrials: 4\n"), 7)
	w.Start(2)
	w.Run(1)
	w.Event(&core.Interrupted{})
	w.Run(-1)
	w.Flush()
	t.Cleanup(w.Crash)
	now := w.Now()
	lock, err := journal.LockDir(w.Dir.Path(), now)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Dir.NoteUnreleased(storage.Unreleased{Executor: "fake", Names: []string{"th-a-1", "th-a-2"},
		Waits: now.Add(20 * time.Second), Over: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	const waits = `its host still waits for the executor "fake" to give 2 leases back, 20s more at most`
	s, refused := statusOf(t, w, now)
	if s.State != view.Interrupted || s.Waiting != waits || s.Resumable || s.Leases.Waits != 20 ||
		s.Leases.String() != "2 not given back yet (th-a-1, th-a-2)" {
		t.Errorf("while it waits: %s, %q, resumable %t, %+v", s.State, s.Waiting, s.Resumable, s.Leases)
	}
	if !strings.HasSuffix(refused, "is interrupted, and "+waits+": try again when it has ended") {
		t.Error(refused)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	s, refused = statusOf(t, w, now)
	if s.Waiting != "" || !s.Resumable || !strings.Contains(s.Leases.String(), "2 not given back (") {
		t.Errorf("when it was killed: %q, resumable %t, %+v", s.Waiting, s.Resumable, s.Leases)
	}
	if !strings.Contains(refused, "tunehost interrupt "+w.Dir.Path()+"` gives them back") {
		t.Error(refused)
	}
	now = now.Add(2 * time.Minute)
	if s, _ := statusOf(t, w, now); s.Leases.Unreleased != nil || s.Leases.Ended != 2 {
		t.Errorf("when they have ended: %+v", s.Leases)
	}
}

// While the host of an experiment that has ended copies the last of it to a storage, readers are told so.
func TestHostThatCopies(t *testing.T) {
	w := viewtest.New(filepath.Join(t.TempDir(), "digits"), []byte("version: 1\n"+
		"objective: {metric: accuracy, mode: max}\nspace: {lr: {uniform: [0, 1]}}\ntrials: 4\n"), 7)
	w.Start(2)
	w.Run(-1)
	w.Flush()
	t.Cleanup(w.Crash)
	now := w.Now()
	lock, err := journal.LockDir(w.Dir.Path(), now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Dir.NoteLeaving(`copies the last of it to "s3://bucket/digits"`, now.Add(50*time.Second)); err != nil {
		t.Fatal(err)
	}
	const copies = `its host still copies the last of it to "s3://bucket/digits", for 50s more at most`
	s, refused := statusOf(t, w, now)
	if s.State != core.Finished.String() || s.Waiting != copies || s.Resumable || s.Leases != nil {
		t.Errorf("while it copies: %s, %q, resumable %t, %+v", s.State, s.Waiting, s.Resumable, s.Leases)
	}
	if !strings.HasSuffix(refused, "is finished, and "+copies+": try again when it has ended") {
		t.Error(refused)
	}
	if s, _ := statusOf(t, w, now.Add(time.Minute)); s.Waiting != "" {
		t.Errorf("later: %q", s.Waiting)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if s, _ := statusOf(t, w, now); s.Waiting != "" {
		t.Errorf("when it was killed: %q", s.Waiting)
	}
}

// statusOf is the status of an experiment, and how an interrupt is refused.
func statusOf(t *testing.T, w *viewtest.Writer, now time.Time) (view.Status, string) {
	t.Helper()
	e, err := view.Open(w.Dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Status(now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&steer.Resting{View: e.Experiment, Now: func() time.Time { return now }}).Do(steer.Interrupt{})
	if err == nil {
		t.Fatal("an interrupt was not refused")
	}
	return s, err.Error()
}
