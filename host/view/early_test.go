package view

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// Each trial says itself whether it was stopped early, as the status counts it: readers need no list of causes.
func TestTrialsSayThatTheyWereStoppedEarly(t *testing.T) {
	w, e, _ := recording(t)
	w.Event(&core.StopRequested{Trial: 0})
	on(t, w, e, 50)
	status, err := e.Status(w.Now())
	early := 0
	for no := range core.TrialNo(e.Now().Trials()) {
		trial := e.Now().Trial(no)
		text, err := json.Marshal(trial)
		if err != nil || trial.StoppedEarly != strings.Contains(string(text), `"stopped_early":true`) {
			t.Error(trial.StoppedEarly, string(text), err)
		}
		if trial.StoppedEarly {
			early++
		}
	}
	if !e.Now().Trial(0).StoppedEarly || err != nil || early != status.StoppedEarly || early == e.Now().Trials() {
		t.Errorf("%d of %d trials were stopped early, by the status %d", early, e.Now().Trials(), status.StoppedEarly)
	}
}

// The page of a trial has the time of its first result apart from that of the later ones, of the same attempts.
func TestPace(t *testing.T) {
	w, e, _ := recording(t)
	on(t, w, e, 3)
	var with, later int
	for no := range core.TrialNo(e.Now().Trials()) {
		d, err := e.Detail(no)
		results, more := e.Results(no)
		if err != nil || more != nil {
			t.Fatal(err, more)
		}
		if len(results) == 0 {
			if d.Pace != nil {
				t.Errorf("trial %d has no results and the pace %v", no, d.Pace)
			}
			continue
		}
		with++
		last := results[len(results)-1]
		if float64(d.Pace.First) != results[0].Seconds || (d.Pace.Next != nil) != (len(results) > 1) {
			t.Errorf("trial %d: %v, its results are %v", no, d.Pace, results)
		}
		if n := len(results) - 1; n > 0 && last.Attempt == results[0].Attempt {
			later++
			want := (last.Seconds - results[0].Seconds) / float64(n)
			if math.Abs(float64(*d.Pace.Next)-want) > 1e-9 {
				t.Errorf("trial %d: each later one takes %v, want %v", no, *d.Pace.Next, want)
			}
		}
	}
	if with == 0 || later == 0 {
		t.Errorf("%d trials with results, %d with several", with, later)
	}
}

// A trial that began anew without a checkpoint had its first result as soon after that start as others after theirs:
// what the attempt before has lost is no slow start.
func TestPaceOfALaterAttempt(t *testing.T) {
	const file = "version: 1\nobjective: {metric: accuracy, mode: max}\nspace: {lr: {uniform: [0, 1]}}\ntrials: 1\n"
	w := viewtest.New(filepath.Join(t.TempDir(), "digits"), []byte(file), 7)
	w.Iterations = 30
	w.Start(1)
	w.Run(12)
	w.Wait(5 * time.Second)
	w.Host(w.Now(), 1)
	w.Run(3)
	e, err := Open(w.Dir.Path())
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Detail(0)
	if err != nil || d.Attempt != 2 || d.Iteration != 3 || d.Pace == nil || d.Pace.First != 1 || *d.Pace.Next != 1 {
		t.Errorf("%+v %+v: %v", d.Trial, d.Pace, err)
	}
}
