package view

import (
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// The way of checkpoints is shown.
func TestRoutes(t *testing.T) {
	m := core.New()
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 3, Concurrency: 3,
		Rules: core.NewestRules, Leases: &core.Leases{},
		Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}}, &core.HostStarted{}} {
		m.Apply(0, e)
	}
	for id := core.LeaseID(1); id <= 3; id++ {
		m.Apply(0, &core.LeaseGranted{Lease: id, Bundles: []core.LeasedBundle{{Node: "n1"}}})
	}
	m.Apply(0, &core.LeaseRouted{Lease: 1, Direct: true})
	for id := core.LeaseID(2); id <= 3; id++ {
		m.Apply(0, &core.LeaseRouted{Lease: id, Why: "no credentials"})
	}
	m.Apply(0, &core.LeaseRouted{Lease: 9, Direct: true}) // it has ended
	want := "3 free; 1 writes checkpoints to the storage itself; checkpoints of 2 go over the connection " +
		"to the host, whose nodes have no credentials"
	if got := leases(m).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// B-133: the reason of a lost lease is shown until a trial runs on another one.
func TestLostLease(t *testing.T) {
	m, now := core.New(), int64(0)
	shows := func(want string, events ...core.Event) {
		t.Helper()
		for _, e := range events {
			m.Apply(now, e)
		}
		if got := leases(m).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	granted := func(id core.LeaseID) core.Event {
		return &core.LeaseGranted{Lease: id, Bundles: []core.LeasedBundle{{Node: "n1"}}}
	}
	shows("1 in use", &core.ExperimentStarted{Spec: core.Spec{Trials: 1, FailureRules: core.FailureRules{Lost: 9},
		Rules:  core.NewestRules,
		Leases: &core.Leases{}, Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}},
		&core.HostStarted{}, granted(1), &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}})
	shows("1 ending", &core.AttemptStarted{Trial: 0, Attempt: 1}, &core.LeaseEnding{Lease: 1})
	shows("1 ending (the job is preempted)", &core.LeaseEnding{Lease: 1, Why: "the job is preempted"})
	shows("none; the last one: lease lost: node n1 is down", &core.LeaseLost{Lease: 1, Why: "node n1 is down"})
	now = int64(time.Hour)
	shows("1 waiting: in the queue; the last one: lease lost: node n1 is down", &core.Ticked{},
		&core.LeasePending{Lease: 2, Why: "in the queue"})
	shows("1 in use", granted(2))
}

// B-133: what an experiment waits for is said in one line, in the words of its status.
func TestAwaited(t *testing.T) {
	at := time.Date(2026, 11, 28, 14, 20, 47, 0, time.Local)
	for want, x := range map[string]struct {
		leases    Leases
		trialsRun bool
	}{
		"":                         {Leases{Used: 2}, true},
		"1 lease waits":            {Leases{Waiting: 1}, false},
		"4 leases wait: BeginTime": {Leases{Used: 1, Waiting: 4, Why: []string{"BeginTime"}}, true},
		"4 leases wait: a; b; the last one: lease lost: node n1 is down": {Leases{Waiting: 4, Why: []string{"a", "b"},
			Lost: "lease lost: node n1 is down"}, false},
		"no lease; the last one: lease lost: node n1 is down": {Leases{Lost: "lease lost: node n1 is down"}, false},
		"1 lease ends (the job is preempted), 2 leases wait: a": {Leases{Ending: 1, Waiting: 2, Why: []string{"a"},
			Ends: []string{"the job is preempted"}}, true},
		"no lease; another is requested at 14:20:47": {Leases{RetryAt: at}, false},
		"no lease; the last one: lease lost: preempted; another is requested at 14:20:47": {Leases{RetryAt: at,
			Lost: "lease lost: preempted"}, false},
	} {
		if got := x.leases.Awaited(x.trialsRun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	later := Leases{Used: 1, RetryAt: at}
	if got := later.Awaited(true); got != "" {
		t.Errorf("%q while a trial runs", got)
	}
	asked := Leases{Used: 1, Waiting: 1}
	if got := asked.Awaited(true); got != "" {
		t.Errorf("%q for a lease that was requested just now", got)
	}
}

// B-120: nobody knows how long an experiment takes in which no trial runs because a cluster grants no lease.
func TestNoTimeLeftWithoutALease(t *testing.T) {
	m := core.New()
	for _, e := range []core.Event{&core.ExperimentStarted{Spec: core.Spec{Trials: 1, Rules: core.NewestRules,
		Leases: &core.Leases{}, Stop: core.StopRules{TimeNS: int64(time.Minute)},
		Objectives: []core.Objective{{Metric: "acc", Mode: stat.Max}}}}, &core.HostStarted{},
		&core.TrialGiven{Suggestion: core.Suggestion{Params: []byte("{}")}}} {
		m.Apply(0, e)
	}
	left := func() Left {
		return (&State{Machine: m}).timeLeft(&Status{State: Running, Planned: 1, Made: 1,
			External: External{Leases: leases(m)}})
	}
	if got := left(); !got.Expected || got.Known {
		t.Errorf("no lease: %+v", got)
	}
	m.Apply(0, &core.LeaseGranted{Lease: 1, Bundles: []core.LeasedBundle{{Node: "n1"}}})
	m.Apply(0, &core.AttemptStarted{Trial: 0, Attempt: 1})
	if got := left(); got.Seconds != 60 {
		t.Errorf("a trial runs: %+v", got)
	}
}

// The leases of a host that has died are not said to be in use: the record does not say when they end. Those that wait
// have no agent that ends by itself.
func TestLeasesOfADeadHost(t *testing.T) {
	l := Leases{Used: 2, Waiting: 1, Why: []string{"in the queue"}}
	if !l.held() || (&Leases{}).held() {
		t.Error("it is wrong whether there are leases")
	}
	l.HostGrace, l.Recorded = 90, time.Date(2026, 11, 28, 18, 0, 0, 0, time.Local)
	want := "when its last host ended (its record ends at 2026-11-28 18:00:00): 2 in use, " +
		"1 waiting: in the queue; without another host they end 1m30s after it, at 2026-11-28 18:01:30 at " +
		"the earliest (those that wait: once they are granted), and `tunehost interrupt` gives back now what is left"
	if got := l.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	l.Waiting, l.Why = 0, nil
	if got := l.String(); strings.Contains(got, "those that wait") {
		t.Errorf("none waits: %s", got)
	}
}
