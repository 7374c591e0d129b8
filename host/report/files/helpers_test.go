package files

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 600e6, time.UTC)

// story makes events with their numbers.
type story struct {
	dir    string
	events []view.Event
}

func (s *story) tell(kind core.ObservationKind, trial core.TrialNo, attempt uint32) *view.Event {
	n := uint64(len(s.events) + 1)
	s.events = append(s.events, view.Event{Number: n, Kind: kind, Time: began.Add(time.Duration(n) * time.Second),
		Trial: view.Subject{Number: trial, ID: fmt.Sprintf("id%d", trial), Dir: trialDir(s.dir, trial),
			Attempt: attempt}})
	return &s.events[n-1]
}

// retry: an attempt failed, and the trial waits for the next one.
func (s *story) retry(trial core.TrialNo, attempt uint32, why string) {
	e := s.tell(core.SawRequeued, trial, attempt)
	e.Reason, e.Retried = why, true
}

func trialDir(dir string, trial core.TrialNo) string {
	return filepath.Join(dir, fmt.Sprintf("trial%d", trial))
}

func (s *story) start(trial core.TrialNo, attempt uint32, from uint64) {
	s.tell(core.SawStarted, trial, attempt).Restored = from
}

func (s *story) result(trial core.TrialNo, attempt uint32, iteration uint64, metrics ...view.Metric) *view.Report {
	e := s.tell(core.SawResult, trial, attempt)
	e.Result = &view.Report{Metrics: metrics, Iteration: iteration, TimeTotal: 1.5 * float64(iteration),
		TimeThisIter: 1.5, PID: 7, Host: "box"}
	return e.Result
}

func acc(x float64) view.Metric { return view.Metric{Name: "acc", Value: x} }

func newDir(t testing.TB, trials int) string {
	dir := t.TempDir()
	makeTrials(t, dir, trials)
	return dir
}

func makeTrials(t testing.TB, dir string, trials int) {
	for i := range trials {
		if err := os.MkdirAll(trialDir(dir, core.TrialNo(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func newReporter(dir string) *Reporter {
	r := New(Options{Dir: dir, Formats: []Format{JSONL, CSV}, Now: func() time.Time { return began }})
	r.sync = func(string) error { return nil }
	return r
}

// write reports everything in one batch and closes.
func write(t testing.TB, r *Reporter, events []view.Event) {
	t.Helper()
	if err := r.Report(events); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir string, trial core.TrialNo, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(trialDir(dir, trial), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func want(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
