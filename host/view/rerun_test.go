package view_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// A trial that is run again counts at its last end, so that as many trials have ended as there are.
func TestHistoryAfterRetries(t *testing.T) {
	w := write(t, file)
	w.Fails = map[core.TrialNo]string{0: "exit status 3", 1: "exit status 3"}
	w.Start(1)
	w.Run(-1)
	w.Event(&core.TrialReset{Trial: 0})
	w.Fails = nil
	w.Run(-1)
	w.Close()
	e := open(t, w)
	x, err := e.Improving(view.Query{}, 0)
	if err != nil || x.Rerun != 1 || len(x.Steps) != e.Count() {
		t.Fatalf("%d steps of %d trials, %d were run again, %v", len(x.Steps), e.Count(), x.Rerun, err)
	}
	for i, step := range x.Steps {
		if step.Ended != i+1 {
			t.Errorf("%d trials have ended when number %d did, the one at place %d", step.Ended, step.Number, i)
		}
	}
	if last := x.Steps[len(x.Steps)-1]; last.Number != 0 {
		t.Errorf("the last end is that of trial %d", last.Number)
	}
}

// Plots, importance and the best trial agree on what has a value: suggestions, if they have several runs.
func TestMeans(t *testing.T) {
	w := write(t, file+"repeat: 2\n")
	values := []float64{0.5, 0.5, 0.9, 0.2, 0.7, 0.6}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{values[int(no)%len(values)], 1} }
	w.Start(1)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	best, ok, err := e.Best(view.Query{})
	if err != nil || !ok || best.Suggestion != 2 || math.Abs(best.Value-0.65) > 1e-9 {
		t.Fatalf("the best is %v of suggestion %d, %v, %v", best.Value, best.Suggestion, ok, err)
	}
	means, err := e.Means(e.Objectives()[0])
	if err != nil || 2*len(means) != e.Count() {
		t.Fatalf("%d means of %d trials, %v", len(means), e.Count(), err)
	}
	for _, x := range means {
		if v, _ := x.Metric("accuracy"); v > best.Value {
			t.Errorf("suggestion %d has the mean %v", x.Suggestion, v)
		}
	}
	if _, n, err := e.Importance(view.Query{}, 0.1); err != nil || n != len(means) {
		t.Errorf("importance is from %d, %v", n, err)
	}
	if text := e.Compared(1); text != "1 suggestion" {
		t.Error(text)
	}
}

// B-105: the best suggestion is shown by its first run that counts: not by one that failed, whose checkpoint is of no
// value in the mean.
func TestBestIsARunThatCounts(t *testing.T) {
	w := write(t, file+"repeat: 3\n")
	w.Fails = map[core.TrialNo]string{0: "exit status 3", 3: "exit status 3", 4: "exit status 3"}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{0.5 - float64(no)/100, 1} }
	w.Start(1)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	best, ok, err := e.Best(view.Query{})
	if err != nil || !ok || best.Number != 1 || best.State != core.Terminated ||
		!slices.Equal(best.MeanOf, []core.TrialNo{1, 2}) {
		t.Errorf("the best is trial %d (%v) for %v, %v, %v", best.Number, best.State, best.MeanOf, ok, err)
	}
	if x, err := e.Status(time.Now()); err != nil || x.Best == nil || x.Best.Number != 1 || len(x.Best.MeanOf) != 2 {
		t.Errorf("the status has %+v, %v", x.Best, err)
	}
	means, err := e.Means(e.Objectives()[0])
	if err != nil || len(means) < 2 || means[0].Number != 1 || means[1].Number != 5 {
		t.Errorf("the means are of %+v, %v", means, err)
	}
}

// B-105: the mean of finite values is finite, also where their sum is not.
func TestMeansOfLargeValues(t *testing.T) {
	w := write(t, file+"repeat: 3\n")
	values := []float64{7e307, 9e307, 5e307}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return []float64{values[int(no)/3%len(values)], 1} }
	w.Start(1)
	w.Run(-1)
	w.Close()
	best, ok, err := open(t, w).Best(view.Query{})
	if err != nil || !ok || best.Suggestion != 1 || math.Abs(best.Value/9e307-1) > 1e-9 {
		t.Errorf("the best is %v of suggestion %d, %v, %v", best.Value, best.Suggestion, ok, err)
	}
}
