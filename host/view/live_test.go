package view_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// loop is a host: one goroutine applies a record, and lets others look between two events.
type loop struct {
	record string
	looks  chan func(*view.State)
	over   chan struct{}
}

func (l *loop) Look(f func(*view.State)) error {
	done := make(chan struct{})
	select {
	case l.looks <- func(s *view.State) { f(s); close(done) }:
		<-done
		return nil
	case <-l.over:
		return core.ErrFinished
	}
}

func (l *loop) Past() (*history.History, error) { return history.Open(l.record) }
func (l *loop) Running() bool                   { return false } // as for the directory at the end

// run applies the record, and then answers queries until it is over.
func (l *loop) run(t *testing.T, f *view.Facts, applied chan<- struct{}) {
	h, err := history.Open(l.record)
	if err != nil {
		t.Error(err)
		return
	}
	defer h.Close()
	s := view.NewState(f, h)
	err = h.Each(func(x *history.Step) error {
		s.Noted(x.Actions)
		select {
		case look := <-l.looks:
			look(s)
		default:
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	close(applied)
	for {
		select {
		case look := <-l.looks:
			look(s)
		case <-l.over:
			return
		}
	}
}

// An experiment looks the same through a host's loop and in its directory, byte by byte, and several
// readers can look at it while it runs.
func TestBothRoadsAreOne(t *testing.T) {
	w := write(t, file)
	w.Iterations, w.Fails = 40, map[core.TrialNo]string{2: "no luck"}
	w.Start(2)
	w.Run(-1)
	w.Close()
	dir := open(t, w)
	l := &loop{record: w.Dir.Journal(), looks: make(chan func(*view.State)), over: make(chan struct{})}
	live, applied := view.New(dir.Facts, l), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { l.run(t, dir.Facts, applied) })
	var looking sync.WaitGroup
	for range 3 {
		looking.Go(func() {
			for range 50 {
				_ = looks(t, live)
			}
		})
	}
	looking.Wait()
	<-applied
	if got, want := looks(t, live), looks(t, dir.Experiment); got != want {
		t.Errorf("through a loop\n%s\nin the directory\n%s", got, want)
	}
	close(l.over)
	all.Wait()
	if _, err := live.Trial(0); err == nil {
		t.Error("a host that has ended is looked at")
	}
}

// looks returns everything that can be read.
func looks(t *testing.T, e *view.Experiment) string {
	status, err := e.Status(viewtest.Epoch.Add(time.Hour))
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	check(err)
	trials, err := e.Trials(view.Chosen{Sort: "-iteration", Where: "number != 1"})
	check(err)
	best, _, err := e.Best(view.Query{Scope: view.Max, Metric: "accuracy"})
	check(err)
	summary, err := e.Summary()
	check(err)
	text, err := json.Marshal([]any{status, trials, best, summary})
	check(err)
	return string(text)
}
