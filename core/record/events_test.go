package record_test

import (
	"math"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// kinds draws events of each kind, in the order of the kinds' numbers.
var kinds = []*rapid.Generator[core.Event]{
	event(func(t *rapid.T) core.Event { return &core.ExperimentStarted{Spec: spec.Draw(t, "spec")} }),
	event(func(t *rapid.T) core.Event {
		return &core.HostStarted{Wall: rapid.Int64().Draw(t, "wall"), PID: u32(t), Host: text(t), Boot: text(t)}
	}),
	event(func(t *rapid.T) core.Event { return &core.SettingsChanged{Spec: spec.Draw(t, "spec")} }),
	event(func(t *rapid.T) core.Event { return &core.NodeJoined{Node: node(t)} }),
	event(func(t *rapid.T) core.Event { return &core.NodeLeft{ID: u32(t)} }),
	event(func(t *rapid.T) core.Event {
		return &core.SuggestionsReceived{Ask: u64(t),
			Suggestions: rapid.SliceOfN(suggestion, 0, 4).Draw(t, "suggestions"),
			Status: rapid.SampledFrom([]core.SearcherStatus{core.SearcherReady, core.SearcherWaits,
				core.SearcherExhausted}).Draw(t, "status")}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.TrialGiven{Suggestion: suggestion.Draw(t, "suggestion"), Extra: yes(t), Clone: yes(t),
			Donor: trial(t)}
	}),
	event(func(t *rapid.T) core.Event { return &core.MetricNamed{ID: core.MetricID(u32(t)), Name: text(t)} }),
	event(func(t *rapid.T) core.Event {
		return &core.AttemptStarted{Trial: trial(t), Attempt: u32(t), PID: u32(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.ResultReported{Trial: trial(t), Attempt: u32(t), Iteration: u64(t),
			Metrics:    rapid.SliceOfN(metric, 0, 5).Draw(t, "metrics"),
			Checkpoint: text(t), Done: yes(t), Values: []byte(text(t)), Stop: maybeCause(t), StopAll: maybeCause(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.AttemptEnded{Trial: trial(t), Attempt: u32(t), Cause: cause(t), NeverStarted: yes(t),
			RestoreFailed: yes(t), Damaged: yes(t), Interrupted: yes(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.CheckpointSaved{Trial: trial(t), Attempt: u32(t), ID: u32(t), Iteration: u64(t),
			Bytes: rapid.Int64().Draw(t, "bytes")}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.SaveFailed{Trial: trial(t), Attempt: u32(t), ID: u32(t), Error: text(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.SchedulerDecided{Decisions: rapid.SliceOfN(decision, 0, 4).Draw(t, "decisions"),
			Commands: rapid.SliceOfN(command, 0, 4).Draw(t, "commands"),
			Through:  u64(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.StopRequested{Trial: trial(t), All: yes(t), Reason: text(t)}
	}),
	event(func(t *rapid.T) core.Event { return &core.PauseRequested{Trial: trial(t), All: yes(t)} }),
	event(func(t *rapid.T) core.Event { return &core.UnpauseRequested{Trial: trial(t), All: yes(t)} }),
	event(func(t *rapid.T) core.Event {
		return &core.TrialReset{Trial: trial(t), Scratch: yes(t), Fresh: yes(t), Unstarted: yes(t), Steered: yes(t)}
	}),
	rapid.Just[core.Event](&core.Interrupted{}),
	event(func(t *rapid.T) core.Event { return &core.PluginFailed{Cause: cause(t)} }),
	rapid.Just[core.Event](&core.Ticked{}),
	rapid.Just[core.Event](&core.OfferMade{}),
	rapid.Just[core.Event](&core.OfferWithdrawn{}),
	event(func(t *rapid.T) core.Event {
		return &core.TrialLearned{From: text(t), Params: []byte(text(t)),
			Metrics:   rapid.SliceOfN(metric, 0, 3).Draw(t, "metrics"),
			Iteration: u64(t), TrainNS: rapid.Int64().Draw(t, "train"), Failed: yes(t),
			Results: rapid.SliceOfN(learnedResult, 0, 3).Draw(t, "results")}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.ModelExported{Trial: trial(t), Attempt: u32(t), Format: text(t),
			Bytes: rapid.Int64().Draw(t, "bytes"), Error: text(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.StateHeld{Trial: trial(t), Attempt: u32(t), ID: u32(t), Iteration: u64(t)}
	}),
	event(func(t *rapid.T) core.Event {
		return &core.LeaseGranted{Lease: lease(t), Bundles: rapid.SliceOfN(leasedBundle, 0, 3).Draw(t, "bundles"),
			Until: rapid.Int64().Draw(t, "until")}
	}),
	event(func(t *rapid.T) core.Event { return &core.LeasePending{Lease: lease(t), Why: text(t)} }),
	event(func(t *rapid.T) core.Event { return &core.LeaseRefused{Lease: lease(t), Why: text(t)} }),
	event(func(t *rapid.T) core.Event {
		return &core.LeaseEnding{Lease: lease(t), At: rapid.Int64().Draw(t, "when"), Why: text(t)}
	}),
	event(func(t *rapid.T) core.Event { return &core.LeaseLost{Lease: lease(t), Why: text(t)} }),
	event(func(t *rapid.T) core.Event {
		return &core.LeaseRouted{Lease: lease(t), Direct: rapid.Bool().Draw(t, "direct"), Why: text(t)}
	}),
	event(func(t *rapid.T) core.Event { return &core.BudgetJudged{Cause: maybeCause(t)} }),
}

func event(f func(*rapid.T) core.Event) *rapid.Generator[core.Event] { return rapid.Custom(f) }

func u32(t *rapid.T) uint32         { return rapid.Uint32().Draw(t, "u32") }
func u64(t *rapid.T) uint64         { return rapid.Uint64().Draw(t, "u64") }
func trial(t *rapid.T) core.TrialNo { return core.TrialNo(u32(t)) }
func yes(t *rapid.T) bool           { return rapid.Bool().Draw(t, "yes") }
func lease(t *rapid.T) core.LeaseID { return core.LeaseID(u32(t)) }

// text draws arbitrary bytes, because texts of plugins need not be UTF-8.
func text(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "text")) }

var metric = rapid.Custom(func(t *rapid.T) core.Metric {
	return core.Metric{ID: core.MetricID(u32(t)), Value: math.Float64frombits(u64(t))}
})

var learnedResult = rapid.Custom(func(t *rapid.T) core.LearnedResult {
	return core.LearnedResult{Iteration: u64(t), Metrics: rapid.SliceOfN(metric, 0, 3).Draw(t, "metrics"),
		TrainNS: rapid.Int64().Draw(t, "train")}
})

var leasedBundle = rapid.Custom(func(t *rapid.T) core.LeasedBundle {
	b := core.LeasedBundle{Node: text(t)}
	for range rapid.IntRange(0, 3).Draw(t, "devices") {
		b.Devices = append(b.Devices, text(t))
	}
	return b
})

var suggestion = rapid.Custom(func(t *rapid.T) core.Suggestion {
	return core.Suggestion{Params: []byte(text(t)), Request: maybe(t)}
})

var decision = rapid.Custom(func(t *rapid.T) core.Decision {
	return core.Decision{Number: u64(t), Verdict: core.Verdict(rapid.Uint8Max(2).Draw(t, "verdict")), Until: u64(t),
		Reason: text(t)}
})

var command = rapid.Custom(func(t *rapid.T) core.Command {
	return core.Command{Kind: core.CommandKind(rapid.Uint8().Draw(t, "kind")), Trial: trial(t), Donor: trial(t),
		Iteration: u64(t),
		Params:    []byte(text(t)), Request: maybe(t), Reason: text(t)}
})

// maybeCause draws a cause or nil.
func maybeCause(t *rapid.T) *core.Cause {
	if c := cause(t); c.Kind != core.CauseNone {
		return &c
	}
	return nil
}

// cause draws any kind of cause, or none.
func cause(t *rapid.T) core.Cause {
	kind := core.CauseKind(rapid.Uint8().Draw(t, "kind"))
	if !kind.Known() {
		return core.Cause{}
	}
	return core.Cause{Kind: kind, Then: core.Then(rapid.Uint8().Draw(t, "then")), Trial: trial(t), Count: u32(t),
		Iteration: u64(t), From: u64(t),
		NS: rapid.Int64().Draw(t, "ns"), Bytes: rapid.Int64().Draw(t, "bytes"), Limit: rapid.Int64().Draw(t, "limit"),
		Value:  finite(t),
		Metric: text(t), By: text(t), Text: text(t)}
}

// maybe draws a request or nil; an empty request is not nil.
func maybe(t *rapid.T) *resource.Request {
	s := rapid.SampledFrom([]string{"-", "none", "cpu=1", "gpu=0.25", "spread(cpu=1;cpu=2,gpu=1)",
		"strict_pack(memory=1125899906842624;x=0.000001)"}).Draw(t, "request")
	if s == "-" {
		return nil
	}
	r := parse(s)
	return &r
}

func parse(s string) resource.Request {
	r, err := resource.ParseRequest(s)
	if err != nil {
		panic(err)
	}
	return r
}

func node(t *rapid.T) resource.Node {
	b, err := resource.ParseBundle(rapid.SampledFrom([]string{"none", "cpu=8", "cpu=0.5,gpu=2,memory=1024"}).Draw(t,
		"capacity"))
	if err != nil {
		panic(err)
	}
	return resource.Node{ID: u32(t), Name: rapid.String().Draw(t, "name"), Capacity: b,
		Devices: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "devices")}
}

// finite draws a finite number: settings are JSON, which has no NaN and no infinities.
func finite(t *rapid.T) float64 { return rapid.Float64().Draw(t, "value") }

func name(t *rapid.T) string { return rapid.String().Draw(t, "name") }

func mode(t *rapid.T) stat.Mode {
	return rapid.SampledFrom([]stat.Mode{stat.Min, stat.Max}).Draw(t, "mode")
}

var spec = rapid.Custom(func(t *rapid.T) core.Spec {
	return core.Spec{
		Rules: core.Rules(u32(t)), Seed: u64(t), Trials: rapid.Int64().Draw(t,
			"trials"), Concurrency: u32(t), FailureRules: core.FailureRules{Lost: u32(t), Retries: rapid.Int32().Draw(t,
			"retries"), FailFast: yes(t), FailRaise: yes(t)}, Overcommit: yes(t), Repeat: u32(t),
		Request: parse("cpu=2,gpu=0.5"),
		Objectives: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Objective {
			return core.Objective{Metric: name(t), Mode: mode(t)}
		}), 0, 2).Draw(t, "objectives"),
		WaitForResources: yes(t), Manual: yes(t),
		Stop: core.StopRules{Iteration: u64(t), TimeNS: rapid.Int64().Draw(t, "time"),
			Metrics: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.MetricRule {
				return core.MetricRule{Metric: name(t), Value: finite(t), Below: yes(t)}
			}), 0, 2).Draw(t, "rules")},
		Budget:     core.Budget{TimeNS: rapid.Int64().Draw(t, "budget"), TrialsFailed: u32(t)},
		Checkpoint: core.Checkpoint{Every: u64(t), AtEnd: yes(t), Keep: u32(t), Score: name(t), Mode: mode(t)},
		Extended:   u32(t),
		Leases: rapid.SampledFrom([]*core.Leases{nil, {}, {IdleNS: -1, OwnRequests: true, Most: 7}}).Draw(t,
			"leases"),
		Start:         rapid.SampledFrom([]*core.Start{nil, {}, {Iteration: 27}}).Draw(t, "start"),
		StrictMetrics: yes(t), PluginTraits: core.PluginTraits{Independent: yes(t), Quiet: yes(t), RunAhead: u32(t),
			Saves: yes(t), Again: core.Audience(rapid.IntRange(0, 3).Draw(t, "again"))},
		Required: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Required {
			return core.Required{Metric: name(t),
				By: name(t)}
		}), 0, 2).Draw(t, "required"),
	}
})
