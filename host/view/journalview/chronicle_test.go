package journalview

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

func entry(e core.Event) *Entry {
	t := &describer{
		metric: func(id core.MetricID) string { return map[core.MetricID]string{1: "loss", 2: "acc"}[id] },
		result: func(n uint64) (place, bool) { return place{3, 9}, n == 5 },
	}
	v := reflect.ValueOf(e).Elem()
	x := &Entry{Number: 7, Event: snake(v.Type().Name()), Fields: t.fields(v)}
	x.trials = t.trials
	return x
}

// An event's entry, in words and as JSON.
func TestEntries(t *testing.T) {
	request, err := resource.Plain(resource.Item{Name: "cpu", Amount: resource.Whole(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		event      core.Event
		text, json string
	}{
		{&core.ResultReported{Trial: 0, Attempt: 1,
			Metrics: []core.Metric{{ID: 1, Value: math.NaN()}, {ID: 2, Value: 1.0 / 3}}, Done: true},
			"trial=0 attempt=1 metrics={loss: NaN, acc: 0.333333} done=true",
			`"trial":0,"attempt":1,"metrics":{"loss":"NaN","acc":0.3333333333333333},"done":true`},
		{&core.AttemptEnded{Trial: 1, Attempt: 2, Cause: core.TrainableFailure("no\x1b[31m such\nthing")},
			`trial=1 attempt=2 error="no\x1b[31m such\nthing" cause=trainable`,
			`"trial":1,"attempt":2,"error":"no\u001b[31m such\nthing","cause":"trainable"`},
		{&core.ResultReported{Trial: 1, Attempt: 2, Stop: &core.Cause{Kind: core.CausePlateau, Metric: "acc"}},
			`trial=1 attempt=2 stop="plateau of acc" stop_cause=plateau`,
			`"trial":1,"attempt":2,"stop":"plateau of acc","stop_cause":"plateau"`},
		{&core.StopRequested{All: true, Reason: "enough"}, "all=true reason=enough", `"all":true,"reason":"enough"`},
		{&core.StopRequested{Trial: 4}, "trial=4", `"trial":4`},
		{&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{"lr":0.1}`)}, Extra: true},
			`suggestion={params: {"lr":0.1}} extra=true`, `"suggestion":{"params":{"lr":0.1}},"extra":true`},
		{&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{"a":"\u003cb\u003e \\u003c"}`)}},
			`suggestion={params: {"a":"<b> \\u003c"}}`, `"suggestion":{"params":{"a":"\u003cb\u003e \\u003c"}}`},
		{&core.SchedulerDecided{Decisions: []core.Decision{{Number: 5, Verdict: core.Stop, Reason: "a rung"},
			{Number: 6}}, Through: 6},
			`decisions=[{trial: 3, iteration: 9, verdict: stop, reason: "a rung"}, {number: 6, verdict: continue}] ` +
				`through=6`,
			`"decisions":[{"trial":3,"iteration":9,"verdict":"stop","reason":"a rung"},{"number":6,` +
				`"verdict":"continue"}],"through":6`},
		{&core.SchedulerDecided{Commands: []core.Command{{Kind: core.Resize, Trial: 2, Request: &request},
			{Kind: core.Exploit, Trial: 1, Donor: 0}}},
			`commands=[{kind: resize, trial: 2, request: "cpu=2"}, {kind: exploit, trial: 1, donor: 0}]`,
			`"commands":[{"kind":"resize","trial":2,"request":"cpu=2"},{"kind":"exploit","trial":1,"donor":0}]`},
		{&core.TrialLearned{From: "other/3", TrainNS: 1_500_000_000}, "from=other/3 train_s=1.5",
			`"from":"other/3","train_s":1.5`},
		{&core.LeaseGranted{Lease: 3, Bundles: []core.LeasedBundle{{Node: "n1", Devices: []string{"0", "1"}}},
			Until: 1_700_000_000_000_000_000},
			`lease=3 bundles=[{node: n1, devices: [0, 1]}] until=2023-11-14T22:13:20Z`,
			`"lease":3,"bundles":[{"node":"n1","devices":["0","1"]}],"until":"2023-11-14T22:13:20Z"`},
		{&core.LeaseEnding{Lease: 3, At: 1_700_000_000_000_000_000}, `lease=3 at=2023-11-14T22:13:20Z`,
			`"lease":3,"at":"2023-11-14T22:13:20Z"`},
		{&core.LeaseEnding{Lease: 3, Why: "preempted"}, `lease=3 why=preempted`, `"lease":3,"why":"preempted"`},
		{&core.LeaseLost{Lease: 3, Why: "node down"}, `lease=3 why="node down"`, `"lease":3,"why":"node down"`},
		{&core.Ticked{}, "", ""},
	} {
		e := entry(x.event)
		if got := e.Text(); got != x.text {
			t.Errorf("%T\n got %s\nwant %s", x.event, got, x.text)
		}
		b, err := json.Marshal(e)
		want := `{"number":7,"at_s":0,"event":"` + e.Event + `"`
		if x.json != "" {
			want += "," + x.json
		}
		if err != nil || string(b) != want+"}" {
			t.Errorf("%T: %v\n got %s\nwant %s}", x.event, err, b, want)
		}
	}
	if e := entry(&core.SchedulerDecided{Decisions: []core.Decision{{Number: 5}}}); !e.About(3) || e.About(0) {
		t.Error("a decision is about the trial of its result")
	}
}
