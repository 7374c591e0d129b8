package jsonlines

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

var states = map[core.ObservationKind]core.State{core.SawStarted: core.Running, core.SawResult: core.Running,
	core.SawCheckpoint: core.Running,
	core.SawPaused:     core.Paused, core.SawRequeued: core.Pending, core.SawFailed: core.Errored,
	core.SawRemoved:   core.Terminated,
	core.SawCompleted: core.Terminated}

func events() []view.Event {
	trial := view.Subject{Number: 17, ID: "ab12", Dir: "/r/trials/00017_ab12", Attempt: 2,
		Params: []byte(`{"lr":0.1,"net":{"units":64}}`)}
	list := []view.Event{
		{Kind: core.SawAdded},
		{Kind: core.SawStarted, Restored: 3},
		{Kind: core.SawResult, Result: &view.Report{Iteration: 4, TimeTotal: 2.5, TimeThisIter: 0.5, PID: 9,
			Host: "box",
			Metrics: []view.Metric{{Name: "acc", Value: 0.1}, {Name: "loss", Value: math.NaN()}, {Name: "acc",
				Value: 0.5}},
			Totals: []view.Metric{{Name: "timesteps_total",
				Value: 10}}, Restored: true, IterationsSinceRestore: 1, TimeSinceRestore: 0.5, Again: true,
			Values: []byte(`{"note":"x","tags":["a"]}`)}},
		{Kind: core.SawCheckpoint, Iteration: 4},
		{Kind: core.SawPaused, Reason: "asha: behind at 9"},
		{Kind: core.SawRequeued, Reason: "interrupted"},
		{Kind: core.SawRequeued, Reason: "exit status 1\nTraceback", Retried: true},
		{Kind: core.SawFailed, Reason: "killed by SIGSEGV"},
		{Kind: core.SawRemoved, Reason: "stopped by the user"},
		{Kind: core.SawCompleted, Reason: "completed"},
		{Kind: core.SawEnd, Reason: "finished"},
	}
	for i := range list {
		list[i].Number = uint64(i + 1)
		list[i].Time = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
		if list[i].Kind != core.SawEnd {
			list[i].Trial = trial
			list[i].Trial.State = states[list[i].Kind]
		}
	}
	return list
}

// The shapes never change: B-127
func TestShapes(t *testing.T) {
	var out bytes.Buffer
	if err := New(&out).Report(events()); err != nil {
		t.Fatal(err)
	}
	const at = `,"time":"2026-01-02T03:04:05.678Z"`
	const trial = at + `,"trial":"ab12","number":17,"attempt":2`
	want := `{"event":"trial_started","event_number":2` + trial + `,"state":"RUNNING",` +
		`"params":{"lr":0.1,"net":{"units":64}},"dir":"/r/trials/00017_ab12","restored_from":3}
{"event":"result","event_number":3` + trial + `,"state":"RUNNING","iteration":4,` +
		`"metrics":{"loss":"NaN","acc":0.5},"totals":{"timesteps_total":10},"values":{"note":"x","tags":["a"]},` +
		`"done":false,"time_total_s":2.5,"time_this_iter_s":0.5,"pid":9,"host":"box","again":true,` +
		`"iterations_since_restore":1,"time_since_restore":0.5}
{"event":"checkpoint","event_number":4` + trial + `,"state":"RUNNING","iteration":4}
{"event":"trial_paused","event_number":5` + trial + `,"state":"PAUSED","reason":"asha: behind at 9"}
{"event":"trial_requeued","event_number":6` + trial + `,"state":"PENDING","reason":"interrupted"}
{"event":"trial_requeued","event_number":7` + trial + `,"state":"PENDING","reason":"exit status 1\nTraceback",` +
		`"error":"exit status 1\nTraceback"}
{"event":"trial_failed","event_number":8` + trial + `,"state":"ERROR","error":"killed by SIGSEGV"}
{"event":"trial_ended","event_number":9` + trial + `,"state":"TERMINATED","reason":"stopped by the user"}
{"event":"trial_ended","event_number":10` + trial + `,"state":"TERMINATED","reason":"completed"}
{"event":"experiment_ended","event_number":11` + at + `,"state":"finished","reason":"finished"}
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Error(line)
		}
	}
}

func TestAWriterThatFailsIsAnError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := New(w).Report(events()); err == nil {
		t.Error("no error")
	}
}

func BenchmarkReport(b *testing.B) {
	e := events()[2:3]
	r := New(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Report(e); err != nil {
			b.Fatal(err)
		}
	}
}
