package view

import (
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/storage"
)

// What a host has not given back is said until it has ended by itself for certain.
func TestUnreleased(t *testing.T) {
	now := time.Date(2026, 11, 28, 18, 0, 0, 0, time.Local)
	two := []string{"th-a-1", "th-a-2"}
	const does = "cancel what has these names with the cluster's own command, or "
	for want, all := range map[string][]storage.Unreleased{
		"none": {{Executor: "slurm", Given: now}},
		"2 not given back (th-a-1, th-a-2; " + does + "interrupt or resume the experiment, which gives them back)": {
			{Executor: "slurm", Names: two}},
		"2 not given back (th-a-1, th-a-2; " + does + "interrupt or resume the experiment, which gives them back; " +
			"otherwise they end by 2026-11-28 18:10:00)": {
			{Executor: "slurm", Names: two, Over: now.Add(10 * time.Minute)}},
		"3 not given back (th-a-1, th-a-2, th-a-3; " + does + "continue with executor=ray)": {
			{Executor: "slurm", Names: two, Over: now.Add(10 * time.Minute)},
			{Executor: "ray", Names: []string{"th-a-3"}}},
		"some perhaps not given back (those that begin with th-a-; " + does + "interrupt or resume the " +
			"experiment, which gives them back)": {{Executor: "slurm", Names: []string{"th-a-*"}}},
		"none; 2 not given back, but ended by 2026-11-28 17:59:00": {
			{Executor: "slurm", Names: two, Over: now.Add(-time.Minute)}},
	} {
		l := (&Leases{}).withUnreleased(all, "slurm", now)
		if got := l.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	given := []storage.Unreleased{{Executor: "slurm", Given: now}}
	if l := (*Leases)(nil).withUnreleased(given, "local", now); l != nil {
		t.Errorf("an experiment without leases has some: %+v", l)
	}
}

// B-133: when trials wait for a request that is delayed, it is said until when.
func TestLeaseRetry(t *testing.T) {
	m := core.New()
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 1,
		FailureRules: core.FailureRules{Lost: 9}, Rules: core.NewestRules, Leases: &core.Leases{},
		Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}}, &core.HostStarted{},
		&core.LeaseGranted{Lease: 1, Bundles: []core.LeasedBundle{{Node: "n1"}}},
		&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}},
		&core.AttemptStarted{Trial: 0, Attempt: 1}} {
		m.Apply(0, e)
	}
	if at := m.LeaseRetry(); at != 0 {
		t.Errorf("while the trial runs: %d", at)
	}
	m.Apply(int64(time.Second), &core.LeaseLost{Lease: 1, Why: "node n1 is down"})
	if at := m.LeaseRetry(); at != int64(2*time.Second) {
		t.Errorf("after the loss: %d", at)
	}
	l := leases(m)
	l.RetryAt = time.Date(2026, 11, 28, 18, 0, 32, 0, time.Local)
	const lost = "the last one: lease lost: node n1 is down; another is requested at 18:00:32"
	if got := l.String(); got != "none; "+lost {
		t.Error(got)
	}
	if got := l.Awaited(false); got != "no lease; "+lost {
		t.Error(got)
	}
	m.Apply(int64(3*time.Second), &core.Ticked{})
	if at := m.LeaseRetry(); at != 0 {
		t.Errorf("when it is requested: %d", at)
	}
}
