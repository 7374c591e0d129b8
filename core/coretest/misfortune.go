package coretest

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// capacity is the capacity of a world's nodes.
var capacity = []string{"cpu=4,gpu=1", "cpu=2", "cpu=3"}

// requests are the requests of its trials; any fits the first node.
var requests = []string{"cpu=1", "cpu=1", "cpu=2", "cpu=0.33", "cpu=1,gpu=0.5", "cpu=4,gpu=1", "cpu=3",
	"spread(cpu=1;cpu=1)"}

func (w *World) request() *resource.Request {
	r, err := resource.ParseRequest(pick(w, requests))
	if err != nil {
		panic(err)
	}
	return &r
}

// settings makes the experiment of this world.
func (w *World) settings() core.Spec {
	s := core.Spec{Rules: core.NewestRules, Seed: 1, Trials: int64(w.r.IntN(9)), Concurrency: uint32(w.r.IntN(4)),
		Request: *w.request(),
		Objectives: []core.Objective{{Metric: "acc",
			Mode: stat.Max}}, WaitForResources: !w.one(5), Overcommit: w.one(3), Manual: w.one(8),
		FailureRules: core.FailureRules{Retries: int32(w.r.IntN(5) - 1), Lost: w.r.Uint32N(3), FailFast: w.one(16),
			FailRaise: w.one(16)},
		StrictMetrics: !w.one(4),
		PluginTraits: core.PluginTraits{Independent: w.one(3), Quiet: w.one(4),
			RunAhead: uint32(max(0, w.r.IntN(5)-2)), Saves: !w.one(3), Again: core.Audience(w.r.IntN(4))}}
	if s.Trials == 0 {
		s.Trials = -1
	}
	if w.one(6) {
		s.Start = &core.Start{Iteration: w.r.Uint64N(4)}
	}
	if w.one(4) {
		s.Repeat = 2 + w.r.Uint32N(2)
	}
	if w.one(2) {
		s.Required = []core.Required{{Metric: "acc", By: "objective"}}
	}
	s.Checkpoint = core.Checkpoint{Every: w.r.Uint64N(4), AtEnd: w.one(2), Keep: w.r.Uint32N(4),
		Mode: stat.Mode(w.r.IntN(2))}
	if w.one(2) {
		s.Checkpoint.Score = "acc"
	}
	s.Checkpoint.PausesInMemory = w.one(3)
	if w.one(3) {
		s.Checkpoint.DiskBytes = 1 + w.r.Int64N(12)
	}
	s.Leases = w.leaseSettings()
	if s.Leases != nil {
		s.Manual, s.Overcommit = false, false
		if s.Trials < 0 && s.Leases.Most == 0 {
			s.Leases.Most = 3 // the searcher of this world would fill any number
		}
	}
	w.limits(&s)
	return s
}

func (w *World) limits(s *core.Spec) {
	if w.one(3) {
		s.Stop.Iteration = 1 + w.r.Uint64N(6)
	}
	if w.one(6) {
		s.Stop.Metrics = []core.MetricRule{{Metric: "acc", Value: 0.9}}
	}
	if w.one(8) {
		s.Stop.TimeNS = 1 + w.r.Int64N(400_000_000)
	}
	if w.one(16) {
		s.Budget.TimeNS = 1 + w.r.Int64N(1_000_000_000)
	}
	if w.one(8) {
		s.Budget.TrialsFailed = 1 + w.r.Uint32N(3)
		s.Budget.Judged, s.Budget.Timed = w.one(2), w.one(2)
	}
}

// learn may tell of trials of another experiment.
func (w *World) learn() error {
	for i := range max(0, w.r.IntN(6)-3) {
		e := &core.TrialLearned{From: "another", Params: params(i).Params, Iteration: w.r.Uint64N(9), Failed: w.one(3)}
		for n := range e.Iteration / 3 {
			e.Results = append(e.Results, core.LearnedResult{Iteration: n + 1})
		}
		if err := w.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// misfortune returns events that no participant wants.
func (w *World) misfortune() []core.Event {
	switch k := w.r.IntN(20); {
	case k < 5:
		return w.hostEvents()
	case k < 9 && w.spec.Leases != nil:
		return w.takesAway()
	case k < 9:
		return w.nodeLost()
	case k < 13:
		return w.nodeBack()
	case k < 18:
		return w.oldNews()
	case k < 19 && w.one(3):
		return []core.Event{&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed,
			Text: "the searcher crashed three times"}}}
	}
	return w.otherSettings()
}

func (w *World) otherSettings() []core.Event {
	s := w.settings()
	s.Manual, s.Quiet, s.RunAhead, s.Saves, s.Independent = w.spec.Manual, w.spec.Quiet, w.spec.RunAhead, w.spec.Saves,
		w.spec.Independent
	s.Start, s.Extended, s.Again = w.spec.Start, w.spec.Extended, w.spec.Again
	if s.Leases = w.spec.Leases; s.Leases != nil {
		s.Overcommit = false
	}
	if w.one(4) {
		s.Extended++
	}
	if s.Trials = w.spec.Trials; s.Trials > 0 {
		s.Trials += w.r.Int64N(3)
	}
	w.spec = s
	return []core.Event{&core.SettingsChanged{Spec: s}}
}

// hostEvents: the host dies, and another takes over the experiment. Everything in progress is lost;
// the scheduler may or may not be told again what it owes.
func (w *World) hostEvents() []core.Event {
	w.asks, w.procs, w.timer = nil, nil, 0
	w.loseLeaseEvents()
	if w.one(3) {
		w.owed = nil
	}
	w.at += w.r.Int64N(1_000)
	events := []core.Event{&core.HostStarted{Wall: 1_700_000_000_000_000_000 + w.at, PID: 1, Host: "h",
		Boot: pick(w, []string{"", "a", "b"})}}
	for i := range w.nodes {
		if w.nodes[i] || w.calm {
			w.nodes[i] = true
			events = append(events, joined(i))
		}
	}
	return events
}

func (w *World) host() error {
	for i := range w.nodes {
		w.nodes[i] = i == 0 || w.one(2)
	}
	for _, e := range w.hostEvents() {
		if err := w.apply(e); err != nil {
			return err
		}
	}
	return nil
}

func joined(i int) core.Event {
	b, err := resource.ParseBundle(capacity[i])
	if err != nil {
		panic(err)
	}
	return &core.NodeJoined{Node: resource.Node{ID: uint32(i), Capacity: b}}
}

func (w *World) nodeLost() []core.Event {
	i := w.r.IntN(len(w.nodes))
	if !w.nodes[i] {
		return nil
	}
	w.nodes[i] = false
	return []core.Event{&core.NodeLeft{ID: uint32(i)}}
}

func (w *World) nodeBack() []core.Event {
	for i, there := range w.nodes {
		if !there {
			w.nodes[i] = true
			return []core.Event{joined(i)}
		}
	}
	return nil
}

// oldNews repeats an earlier event of an attempt that is over.
func (w *World) oldNews() []core.Event {
	if len(w.old) == 0 {
		return nil
	}
	e := pick(w, w.old)
	if id := leaseOf(e); id != 0 && w.cluster.find(id) != nil {
		return nil
	}
	switch e := e.(type) {
	case *core.ResultReported:
		if w.lives(e.Trial, e.Attempt) {
			return nil
		}
	case *core.AttemptEnded:
		if w.lives(e.Trial, e.Attempt) {
			return nil
		}
	}
	return []core.Event{e}
}
