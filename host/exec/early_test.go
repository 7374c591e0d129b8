package exec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// lose has the engine end a lease that was asked for.
func (w *world) lose(lease core.LeaseID, why string) {
	w.t.Helper()
	w.ask(lease, "cpu=1")
	w.hears(fmt.Sprintf("LeasePending &{Lease:%d", lease))
	w.engine.say(sdk.LeaseEvent{Lease: fmt.Sprint("x-", lease), Kind: sdk.LeaseLost, Why: why})
	w.hears(fmt.Sprintf("LeaseLost &{Lease:%d", lease))
}

// B-135: a lease that ends before a trial could start on it is told with its reason, once for each reason;
// after five in a row the user hears that others may end, too.
func TestEndsBeforeTrial(t *testing.T) {
	w := begin(t, &engine{})
	defer w.Close(t.Context())
	for id := core.LeaseID(1); id <= 4; id++ {
		w.lose(id, fmt.Sprintf("job %d has ended; the setup failed at: module load cuda", id))
	}
	if said := w.log.String(); strings.Contains(said, "in a row") {
		t.Errorf("after four:\n%s", said)
	}
	w.lose(5, "no such user")
	w.lose(6, "no such user")
	said := w.log.String()
	for text, times := range map[string]int{
		`lease x-1 of executor "test" was lost before a trial could use it: job 1 has ended; the setup failed at: ` +
			`module load cuda; another is requested`: 1,
		"module load cuda; another is requested": 1,
		"no such user; another is requested":     1,
		`5 leases in a row of executor "test" ended before a trial could start, and others may, too; the last one: ` +
			`no such user`: 1,
	} {
		if got := strings.Count(said, text); got != times {
			t.Errorf("%d times %q, want %d, in\n%s", got, text, times, said)
		}
	}
}

// B-135: an end that is told once may come from another node the next time: host.log names it. Ends that differ only in
// the node count as the same.
func TestEarlyEndsOnNodes(t *testing.T) {
	c := &byHand{now: time.Now()}
	w := beginAt(t, c, &engine{})
	defer w.Close(t.Context())
	const rest = "was lost before a trial could use it: the setup failed (exit status 1) on the node "
	for id, node := range []string{"red", "blue"} {
		w.lose(core.LeaseID(id+1), "the setup failed (exit status 1) on the node "+node)
	}
	for _, want := range []string{
		"[WARN]  tunehost: lease x-1 of executor \"test\" " + rest + "red; another is requested\n",
		"[INFO]  tunehost: lease x-2 of executor \"test\" " + rest + "blue\n"} {
		if said := w.log.String(); strings.Count(said, want) != 1 {
			t.Errorf("once %q, in\n%s", want, said)
		}
	}
	c.pass(5 * time.Minute)
	for id := core.LeaseID(3); id < 20; id++ {
		w.lose(id, fmt.Sprint("the setup failed (exit status 1) on the node n", strings.Repeat("o", int(id))))
	}
	w.ask(20, "cpu=1")
	w.hears("LeasePending &{Lease:20")
	w.engine.say(sdk.LeaseEvent{Lease: "x-20", Kind: sdk.LeaseLost,
		Why: "the setup failed (exit status 1) on the node red"})
	w.hears("LeaseRefused &{Lease:20 Why:no trial could start since this host began, and 20 leases in a row ended")
}

// A lease on which a trial could start is no sign that others cannot.
func TestEndsAfterGrant(t *testing.T) {
	w := begin(t, &engine{})
	defer w.Close(t.Context())
	for id := core.LeaseID(1); id <= 4; id++ {
		w.lose(id, "no such user")
	}
	w.ask(5, "gpu=1")
	w.hears("LeasePending")
	w.engine.say(grant("x-5"))
	w.hears("LeaseGranted")
	w.engine.say(sdk.LeaseEvent{Lease: "x-5", Kind: sdk.LeaseLost, Why: "preempted"})
	w.hears("LeaseLost")
	w.lose(6, "no such user")
	if said := w.log.String(); strings.Contains(said, "in a row") || strings.Contains(said, "preempted; another") {
		t.Errorf("%s", said)
	}
}

// B-135: a lease on which trials could run is told when it is taken away or lost, once for each reason; host.log has
// each.
func TestTellsLostLeases(t *testing.T) {
	w := begin(t, &engine{})
	defer w.Close(t.Context())
	for id := core.LeaseID(1); id <= 3; id++ {
		w.ask(id, "gpu=1")
		w.hears(fmt.Sprintf("LeasePending &{Lease:%d", id))
		w.engine.say(grant(fmt.Sprint("x-", id)))
		w.hears(fmt.Sprintf("LeaseGranted &{Lease:%d", id))
		w.engine.say(sdk.LeaseEvent{Lease: fmt.Sprint("x-", id), Kind: sdk.LeaseEnding, Why: "the job is preempted"})
		w.hears(fmt.Sprintf("LeaseEnding &{Lease:%d", id))
		w.engine.say(sdk.LeaseEvent{Lease: fmt.Sprint("x-", id), Kind: sdk.LeaseLost, Why: fmt.Sprint("node ", id)})
		w.hears(fmt.Sprintf("LeaseLost &{Lease:%d", id))
	}
	w.ask(4, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending &{Lease:4")
	w.engine.say(far("x-4"))
	w.hears("LeaseGranted &{Lease:4")
	if node, of := w.NodeOf("x-4", 1); node != "n2" || of != 2 {
		t.Errorf("the second of %d bundles is on %q", of, node)
	}
	w.engine.say(sdk.LeaseEvent{Lease: "x-4", Kind: sdk.LeaseLost, Why: "the job is over"})
	w.hears("LeaseLost &{Lease:4")
	if node, _ := w.NodeOf("x-4", 1); node != "" {
		t.Errorf("it is on %q", node)
	}
	said := w.log.String()
	const rest = "; later ones with this reason are only in host.log"
	for text, times := range map[string]int{
		`[WARN]  tunehost: lease x-1 of executor "test" on the node n1 is taken away: the job is preempted` + rest: 1,
		`[WARN]  tunehost: lease x-1 of executor "test" on the node n1 is lost: node 1` + rest:                     1,
		`[WARN]  tunehost: lease x-4 of executor "test" on the nodes n1,n2 is lost: the job is over` + rest:        1,
		rest: 3,
		`[INFO]  tunehost: lease x-3 of executor "test" on the node n1 is taken away: the job is preempted`: 1,
		`[INFO]  tunehost: lease x-3 of executor "test" on the node n1 is lost: node 3`:                     1,
	} {
		if got := strings.Count(said, text); got != times {
			t.Errorf("%d times %q, want %d, in\n%s", got, text, times, said)
		}
	}
}

// B-135: a lease that ends while its agents are awaited is told.
func TestEndsBeforeAgents(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	defer w.Close(t.Context())
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(far("x-1"))
	testplace.Soon(t, "its addresses", func() bool { return w.Addresses(1) != nil })
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: "the agent is not executable"})
	w.hears("LeaseLost &{Lease:1")
	w.warned("the agent is not executable; another is requested")
}

// An experiment on which no trial can start ends after many leases in a row that ended in the same way, but not if they
// ended within a short time, in different ways, or if a trial could start before.
func TestNeverStarts(t *testing.T) {
	for name, x := range map[string]struct {
		every time.Duration
		why   func(n core.LeaseID) string
		works bool
		ends  bool
	}{
		"the same": {time.Minute, func(n core.LeaseID) string { return fmt.Sprint("job ", n, " failed") }, false,
			true},
		"soon":        {time.Second, func(core.LeaseID) string { return "failed" }, false, false},
		"different":   {time.Minute, func(n core.LeaseID) string { return strings.Repeat("x", int(n)) }, false, false},
		"worked once": {time.Minute, func(core.LeaseID) string { return "failed" }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &byHand{now: time.Unix(1, 0)}
			w := beginAt(t, c, &engine{})
			defer w.Close(t.Context())
			if x.works {
				w.ask(99, "cpu=1,gpu=1")
				w.hears("LeasePending &{Lease:99")
				w.engine.say(grant("x-99"))
				w.hears("LeaseGranted &{Lease:99")
			}
			for id := core.LeaseID(1); id < 20; id++ {
				w.lose(id, x.why(id))
				c.pass(x.every)
			}
			if !x.ends {
				w.lose(20, x.why(20))
				return
			}
			w.ask(20, "cpu=1")
			w.hears("LeasePending &{Lease:20")
			w.engine.say(sdk.LeaseEvent{Lease: "x-20", Kind: sdk.LeaseLost, Why: x.why(20)})
			w.hears("LeaseRefused &{Lease:20 Why:no trial could start since this host began, and 20 leases in a row " +
				"ended in the same way: job 20 failed}")
		})
	}
}
