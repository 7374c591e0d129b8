package record_test

import (
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// example returns an event of the i-th kind with every field set and with extreme values. Never
// change one: testdata/format.txt has their bytes.
func example(i int) core.Event {
	request := parse("spread(cpu=1;cpu=2,gpu=1)")
	capacity, err := resource.ParseBundle("cpu=8,gpu=2,memory=1073741824")
	if err != nil {
		panic(err)
	}
	settings := core.Spec{Seed: math.MaxUint64, Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max},
		{Metric: "cost", Mode: stat.Min}},
		Trials: -1, Concurrency: 4, Request: parse("cpu=0.33"), WaitForResources: true, Manual: true,
		Stop: core.StopRules{Metrics: []core.MetricRule{{Metric: "acc", Value: 0.1, Below: true}}, Iteration: 100,
			TimeNS: 1e9},
		Budget:       core.Budget{TimeNS: 2e9, TrialsFailed: 3},
		Checkpoint:   core.Checkpoint{Every: 5, AtEnd: true, Keep: 2, Score: "acc", Mode: stat.Max},
		FailureRules: core.FailureRules{Retries: -1, FailFast: true, FailRaise: true}, StrictMetrics: true,
		Required: []core.Required{{Metric: "acc",
			By: "objective"}},
		PluginTraits: core.PluginTraits{Independent: true, Quiet: true, RunAhead: 1, Saves: true}}
	return []core.Event{
		&core.ExperimentStarted{Spec: settings},
		&core.HostStarted{Wall: -1, PID: math.MaxUint32, Host: "h\x00\xff"},
		&core.SettingsChanged{Spec: settings},
		&core.NodeJoined{Node: resource.Node{ID: 1, Name: "n1", Capacity: capacity, Devices: []string{"0", "GPU-5"}}},
		&core.NodeLeft{ID: 1},
		&core.SuggestionsReceived{Ask: 300, Suggestions: []core.Suggestion{{Params: []byte(`{"x":1}`)},
			{Params: []byte("{}"), Request: &request}, {Request: new(resource.Request)}},
			Status: core.SearcherExhausted},
		&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}"), Request: &request}, Extra: true},
		&core.MetricNamed{ID: 128, Name: "val/acc"},
		&core.AttemptStarted{Trial: 5, Attempt: 2, PID: 4711},
		&core.ResultReported{Trial: 5, Attempt: 2, Iteration: math.MaxUint64,
			Metrics: []core.Metric{{ID: 1, Value: 0.5}, {ID: 300, Value: math.Float64frombits(0x7ff8_0000_0000_0abc)},
				{ID: 2, Value: math.Copysign(0, -1)}, {ID: 3, Value: math.Inf(-1)}}, Checkpoint: "ckpt/7", Done: true,
			Stop:    &core.Cause{Kind: core.CausePlateau, Metric: "acc"},
			StopAll: &core.Cause{Kind: core.CauseMetricAbove, Metric: "acc", Value: 0.9}},
		&core.AttemptEnded{Trial: 5, Attempt: 2, Cause: core.Cause{Kind: core.CauseTrainable, Text: "exit status 1"},
			NeverStarted: true, RestoreFailed: true},
		&core.CheckpointSaved{Trial: 5, Attempt: 2, ID: 3, Iteration: 7, Bytes: math.MinInt64},
		&core.SaveFailed{Trial: 5, Attempt: 2, ID: 3, Error: "disk full"},
		&core.SchedulerDecided{Decisions: []core.Decision{{Number: 9, Verdict: core.Stop, Until: 27, Reason: "worse"},
			{Number: 10}},
			Commands: []core.Command{{Kind: core.Exploit, Trial: 1, Donor: 2, Iteration: 4, Params: []byte("{}"),
				Request: &request, Reason: "better"}}, Through: 12},
		&core.StopRequested{Trial: 5, All: true, Reason: "enough"},
		&core.PauseRequested{Trial: 5, All: true},
		&core.UnpauseRequested{Trial: 5, All: true},
		&core.TrialReset{Trial: 5, Scratch: true},
		&core.Interrupted{},
		&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed, Text: "the searcher crashed three times"}},
		&core.Ticked{},
		&core.OfferMade{},
		&core.OfferWithdrawn{},
		&core.TrialLearned{From: "results/a, trial 3", Params: []byte(`{"x":1}`),
			Metrics: []core.Metric{{ID: 1, Value: 0.5}}, Iteration: 27, TrainNS: -1, Failed: true},
		&core.ModelExported{Trial: 2, Attempt: 1, Format: "onnx", Bytes: 4096, Error: "no such layer"},
		&core.StateHeld{Trial: 2, Attempt: 1, ID: 3, Iteration: 7},
		&core.LeaseGranted{Lease: 300, Bundles: []core.LeasedBundle{{Node: "n1", Devices: []string{"0", "GPU-5"}}, {},
			{Node: "n\x00\xff"}}, Until: math.MinInt64},
		&core.LeasePending{Lease: 1, Why: "3 before it in the queue"},
		&core.LeaseRefused{Lease: math.MaxUint32, Why: "no such partition"},
		&core.LeaseEnding{Lease: 1, At: math.MaxInt64},
		&core.LeaseLost{Lease: 1, Why: "node down"},
		&core.LeaseRouted{Lease: 1, Direct: true, Why: "no credentials"},
		&core.BudgetJudged{Cause: &core.Cause{Kind: core.CauseBudgetExpression, Text: "trials > 3"}},
	}[i]
}
