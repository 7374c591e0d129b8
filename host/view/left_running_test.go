package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/view"
)

// leftRunning checks how many trials are said to have run when their host ended, in all places that have the states of
// trials.
func leftRunning(t *testing.T, e *view.Recorded, want int) {
	t.Helper()
	status, err := e.Status(time.Now())
	if err != nil || status.WasRunning != want {
		t.Errorf("status: %d were running, %v; want %d", status.WasRunning, err, want)
	}
	trials, err := e.Trials(view.Chosen{})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{"RUNNING": 0}
	for i := range trials {
		said[trials[i].Condition()]++
	}
	if said["was RUNNING"] != want || want > 0 && said["RUNNING"] != 0 {
		t.Errorf("trials: %v; want %d that were running", said, want)
	}
	curves, err := e.LearningCurves(view.CurvesQuery{})
	if err != nil {
		t.Fatal(err)
	}
	timeline, err := e.Timeline(view.TimelineQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	points, err := e.Points(0)
	if err != nil || points.WasRunning != (want > 0) {
		t.Errorf("points: %v, %v", points.WasRunning, err)
	}
	inCurves, inTimeline := 0, 0
	for _, c := range curves.Trials {
		if c.WasRunning {
			inCurves++
		}
	}
	for _, x := range timeline.Trials {
		if x.WasRunning {
			inTimeline++
		}
	}
	if inCurves != want || inTimeline != want {
		t.Errorf("%d curves and %d lines of time were running, want %d", inCurves, inTimeline, want)
	}
}

// B-084: what ran when the host was killed is not said to run, until a host runs the experiment again.
func TestTrialsOfADeadHostWereRunning(t *testing.T) {
	w := write(t, file)
	w.Start(2)
	w.Run(1)
	w.Crash()
	e := open(t, w)
	leftRunning(t, e, 2)
	e.RunsOn("lab") // a copy of an experiment that runs on another machine
	leftRunning(t, e, 0)
}

// What an experiment that has ended shows has no word about a host.
func TestTrialsThatEndedWereNotRunning(t *testing.T) {
	w := write(t, strings.Replace(file, "trials: 4", "trials: 2", 1))
	w.Start(2)
	w.Run(-1)
	w.Close()
	leftRunning(t, open(t, w), 0)
}
