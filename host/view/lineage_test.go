package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

func explore(w *viewtest.Writer, trial, donor core.TrialNo, iteration uint64, params string) {
	w.Event(&core.SchedulerDecided{Commands: []core.Command{{Kind: core.Exploit, Trial: trial, Donor: donor, Iteration: iteration, Params: []byte(params)}}})
}

func brief(l *view.Lineage) (text string) {
	for i, s := range l.Stretches {
		text += fmt.Sprintf("%d: trial %d, %d to %d, parent %d\n", i, s.Trial, s.From, s.To, s.Parent)
	}
	return text
}

func lineage(t *testing.T, e *view.Recorded) *view.Lineage {
	t.Helper()
	l, err := e.Lineage()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A host that dies and is followed by another one leaves stretches whole: the trial goes
// on from its own checkpoint, or once more from the other's.
func TestLineageAcrossHosts(t *testing.T) {
	w := write(t, file)
	w.Iterations = 6
	w.Start(2)
	w.Run(2)
	explore(w, 0, 1, 1, `{"lr":0.5,"units":3}`)
	w.Run(0)
	w.Host(viewtest.Epoch.Add(time.Hour), 2)
	w.Run(2)
	w.Host(viewtest.Epoch.Add(2*time.Hour), 2)
	w.Run(1)
	w.Crash()
	l := lineage(t, open(t, w))
	want := `0: trial 0, 0 to 2, parent -1
1: trial 1, 0 to 5, parent -1
2: trial 0, 1 to 4, parent 1
`
	if got := brief(l); got != want {
		t.Errorf("%swant %s", got, want)
	}
	if !l.Branches() || fmt.Sprint(l.Line(0), l.Line(1), l.Line(3)) != "[1 2] [1] []" {
		t.Errorf("lines %v, %v, %v", l.Line(0), l.Line(1), l.Line(3))
	}
}

// Who goes on from a checkpoint that another one took over goes on from where it was made;
// changes between which nothing was trained are one.
func TestPolicy(t *testing.T) {
	w := write(t, file)
	w.Iterations = 6
	w.Start(2)
	w.Run(2)
	explore(w, 0, 1, 2, `{"lr":0.5,"units":3}`)
	w.Run(0)
	explore(w, 0, 0, 2, `{"lr":0.25,"units":3}`)
	w.Run(2)
	explore(w, 0, 0, 4, `{"lr":0.25,"units":4}`)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	l := lineage(t, e)
	begin, changes := e.Policy(l, l.Line(0))
	if first := e.Config.Values(e.Now().Machine.FirstParams(1)); fmt.Sprint(begin) != fmt.Sprint(first) {
		t.Errorf("begins with %v, want %v", begin, first)
	}
	if got, want := fmt.Sprint(changes), "[{2 map[lr:0.25 units:3]} {4 map[units:4]}]"; got != want {
		t.Errorf("%s, want %s\n%s", got, want, brief(l))
	}
}

// Trials that nobody touched are stretches without parents, and have no schedule.
func TestNoLineage(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	l := lineage(t, e)
	if _, changes := e.Policy(l, l.Line(2)); l.Branches() || len(l.Stretches) != 4 || len(changes) != 0 || l.Best() < 0 {
		t.Errorf("%sbest %d, changes %v", brief(l), l.Best(), changes)
	}
}
