package host

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

// starts is a probe that notes attempts.
type starts struct{ list []core.StartAttempt }

func (s *starts) Doing(a core.Action) {
	if x, ok := a.(core.StartAttempt); ok {
		s.list = append(s.list, x)
	}
}
func (*starts) Replayed(uint64, [][]byte)   {}
func (*starts) Appending([][]byte)          {}
func (*starts) Appended(uint64)             {}
func (*starts) Applied(core.Event)          {}
func (*starts) Remove(core.TrialNo, uint32) {}
func (*starts) Hear([]view.Event)           {}

// rigged starts a host, and runs it until nothing waits.
func rigged(t *testing.T, r *hosttest.Harness) *hosttest.SteppedHost {
	t.Helper()
	host, err := r.Start()
	if err != nil {
		t.Fatal(err)
	}
	settle(t, host)
	return host
}

func settle(t *testing.T, host *hosttest.SteppedHost) {
	t.Helper()
	for busy := true; busy; {
		var err error
		if busy, err = host.Step(); err != nil {
			t.Fatal(err)
		}
		busy = busy || host.Decide() || host.Suggest()
		host.DeliverDecisions()
		host.DeliverSuggestions()
	}
}

// B-073 B-082: a host that dies while it ends an experiment for good leaves the end
// to the next one. When that one is told to run what has failed again, it does.
func TestResetBesideAnEnd(t *testing.T) {
	e, err := config.Parse("rig.yaml", []byte(`
version: 1
seed: 1
objective: {metric: score, mode: max}
space: {x: {uniform: [0, 1]}}
failures: {fail_fast: true}
trials: 2
`), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	capacity, err := resource.ParseBundle("cpu=2")
	if err != nil {
		t.Fatal(err)
	}
	seen := &starts{}
	r := &hosttest.Harness{Experiment: e, Seed: 1, RunID: journal.RunID{1}, Plugins: testPlugins, Clock: clock.System{},
		Record: journaltest.New(1),
		Nodes:  []resource.Node{{ID: 1, Capacity: capacity}}, Probe: seen}
	first := rigged(t, r)
	if len(seen.list) != 2 {
		t.Fatalf("%d attempts were started", len(seen.list))
	}
	first.Post(&core.AttemptStarted{Trial: 0, Attempt: 1}, &core.AttemptEnded{Trial: 0, Attempt: 1,
		Cause: core.TrainableFailure("exit status 1")})
	settle(t, first) // trial 1 is told to stop; and here the host dies

	r.Resume = "errored_only"
	second := rigged(t, r)
	if o, _ := second.Machine().Outcome(); o != 0 || second.Over() || second.Machine().State(0) != core.Running ||
		len(seen.list) < 3 {
		t.Fatalf("the host leaves: outcome %v, over %t, trial 0 is %v", o, second.Over(), second.Machine().State(0))
	}
}
