package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// agents are those of leases, as a test wants them.
type agents struct {
	mu        sync.Mutex
	expected  []string
	forgotten []string
	connect   map[string]chan struct{} // closed when the agent of a bundle is connected
	refuses   []error                  // what the next calls to Expect return
	rejoin    bool                     // they were connected to an earlier host
	unknown   bool                     // none is expected
	given     error                    // what Wait returns; nil: it waits
	crowded   string
}

func (a *agents) of(lease string, bundle int) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.connect == nil {
		a.connect = map[string]chan struct{}{}
	}
	name := fmt.Sprint(lease, " ", bundle)
	if a.connect[name] == nil {
		a.connect[name] = make(chan struct{})
	}
	return a.connect[name]
}

func (a *agents) Expect(lease string, bundles int) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.refuses) > 0 {
		err := a.refuses[0]
		a.refuses = a.refuses[1:]
		return "", err
	}
	a.expected = append(a.expected, fmt.Sprint(lease, " ", bundles))
	return "secret of " + lease, nil
}

func (a *agents) Wait(ctx context.Context, lease string, bundle int) error {
	if a.given != nil {
		return a.given
	}
	select {
	case <-a.of(lease, bundle):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *agents) Forget(lease string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgotten = append(a.forgotten, lease)
}

func (a *agents) Retain([]string) {}

func (a *agents) Bundles(lease string) (connected, of int) {
	if a.unknown {
		return 0, 0
	}
	for i := range 2 {
		select {
		case <-a.of(lease, i):
			connected++
		default:
		}
	}
	return connected, 2
}

func (a *agents) Rejoins(string) bool { return a.rejoin }

func (a *agents) Addresses() []string { return []string{"login1:4000"} }

func (a *agents) Crowded() string { return a.crowded }

func (a *agents) forgot(t *testing.T, lease string) {
	t.Helper()
	testplace.Soon(t, lease+" is forgotten", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return slices.Contains(a.forgotten, lease)
	})
}

// far is a grant of two nodes.
func far(lease string) sdk.LeaseEvent {
	e := grant(lease)
	e.Bundles = []sdk.GrantedBundle{{Node: "n1", Address: "10.0.0.1"}, {Node: "n2"}}
	return e
}

// A lease is granted when the agents of all its bundles are connected.
func TestGrantWaitsForAgents(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(far("x-1"), sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding})
	close(a.of("x-1", 1))
	testplace.Soon(t, "its addresses", func() bool { return w.Addresses(1) != nil })
	if got := w.Addresses(1); !slices.Equal(got, []string{"10.0.0.1", "n2"}) {
		t.Errorf("%q", got)
	}
	select {
	case e := <-w.events:
		t.Fatalf("before all are connected: %T", e)
	default:
	}
	close(a.of("x-1", 0))
	w.hears("LeaseGranted &{Lease:1 Bundles:[{Node:n1", "LeaseEnding &{Lease:1")
	w.release(1)
	a.forgot(t, "x-1")
	if !slices.Equal(a.expected, []string{"x-1 2"}) {
		t.Errorf("%q", a.expected)
	}
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}] [{cpu 1}]] secret of x-1", "release [x-1]")
}

// B-135: an agent may say that nothing can run on its node before the executor has said that the lease is granted.
func TestAgentsFailEarly(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	w.LoseAgents("x-1", "the setup failed at: false")
	w.hears("LeaseLost &{Lease:1 Why:the setup failed at: false")
	if said := w.log.String(); !strings.Contains(said, "before a trial could use it: the setup failed at: false") {
		t.Error(said)
	}
	a.forgot(t, "x-1")
}

// A lease whose agents are lost is given back; one that the engine takes is forgotten.
func TestAgentsAreLost(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	for lease := core.LeaseID(2); lease <= 3; lease++ {
		w.ask(lease, "pack(cpu=1;cpu=1)")
		w.hears("LeasePending")
		w.engine.say(far(fmt.Sprint("x-", lease)))
	}
	for bundle := range 2 {
		close(a.of("x-2", bundle))
	}
	w.hears("LeaseGranted &{Lease:2")
	w.LoseAgents("x-2", "no word from n1\n")
	w.LoseAgents("x-2", "again")
	w.LoseAgents("x-77", "unknown")
	w.hears("LeaseLost &{Lease:2 Why:no word from n1")
	w.engine.say(sdk.LeaseEvent{Lease: "x-3", Kind: sdk.LeaseLost, Why: "gone"})
	w.hears("LeaseLost &{Lease:3 Why:gone")
	a.forgot(t, "x-2")
	a.forgot(t, "x-3")
	if kept := w.Close(t.Context()); kept != nil || w.engine.leases["x-2"] != 0 {
		t.Errorf("not released: %v, %v", kept, w.engine.leases)
	}
}

// Agents that are lost at the end of their lease, or after it, are lost because of it, also if the executor has not
// said so yet.
func TestAgentsAreLostAtTheEnd(t *testing.T) {
	for _, x := range []struct {
		end       time.Time
		why, want string
	}{
		{time.Now().Add(-time.Second), "the time limit is near",
			"it broke at the end of the lease (the time limit is near)}"},
		{time.Now().Add(-time.Second), "", "it broke at the end of the lease}"},
		{time.Now().Add(time.Hour), "the time limit is near", "it broke}"},
		{time.Time{}, "the job is preempted", "it broke}"},
	} {
		a := &agents{}
		w := beginAt(t, clock.System{}, &engine{agents: a})
		w.ask(1, "pack(cpu=1;cpu=1)")
		w.hears("LeasePending")
		w.engine.say(far("x-1"))
		close(a.of("x-1", 0))
		close(a.of("x-1", 1))
		w.hears("LeaseGranted &{Lease:1")
		w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Until: x.end, Why: x.why})
		w.hears("LeaseEnding &{Lease:1")
		w.LoseAgents("x-1", "it broke")
		w.hears("LeaseLost &{Lease:1 Why:" + x.want)
		w.Close(t.Context())
	}
}

// What the executor says of the end of a lease counts, also if its agents are missed a moment before: it has the
// engine's word. An engine that has signalled its processes does not say when they end. The core may give the lease
// back in this moment, because the attempt on it has ended: the user hears the engine's word then.
func TestEngineSaysWhyAgentsAreLost(t *testing.T) {
	const why, asked = "TIMEOUT: the job reached its time limit", "allocate x-1 pack [[{cpu 1}]] secret of x-1"
	for _, end := range []time.Time{{}, time.Now().Add(-time.Second)} {
		w := beginLost(t, end)
		w.LoseAgents("x-1", "it broke again")
		w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: why})
		w.hears("LeaseLost &{Lease:1 Why:" + why)
		w.ends("adopt []", asked)
		w = beginLost(t, end)
		w.release(1)
		w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: why})
		w.ends("adopt []", asked)
		w.warned("is lost: " + why)
	}
	w := beginLost(t, time.Time{})
	w.release(1)
	w.ends("adopt []", asked, "release [x-1]")
	w.warned("is lost: it broke")
}

// beginLost has a lease that ends, and whose agent was lost.
func beginLost(t *testing.T, end time.Time) *world {
	t.Helper()
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseGranted, Bundles: []sdk.GrantedBundle{{Node: "n1"}}})
	close(a.of("x-1", 0))
	w.hears("LeaseGranted &{Lease:1")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Until: end, Why: "the time limit is near"})
	w.hears("LeaseEnding &{Lease:1")
	w.LoseAgents("x-1", "it broke")
	return w
}

// A lease whose agents do not connect in time is given back.
func TestAgentsDoNotConnect(t *testing.T) {
	a, c := &agents{}, &byHand{now: time.Now()}
	w := beginAt(t, c, &engine{agents: a})
	close(a.of("x-1", 1))
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(far("x-1"))
	w.passes(c, 10*time.Second)
	w.hears("LeasePending &{Lease:1 Why:the nodes n1,n2 are granted; waiting for the agents: 1 of 2 connected")
	c.pass(5 * time.Minute)
	w.hears("LeaseLost &{Lease:1 Why:its agents did not connect within 5m0s: 1 of 2 connected; " +
		"that on the node n1 is missing")
	a.forgot(t, "x-1")
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}] [{cpu 1}]] secret of x-1", "release [x-1]")
}

// When foreign connections keep the port of the host busy, the user hears of them wherever agents are missing, and is
// not sent to look at the network.
func TestAgentsAmongForeignConnections(t *testing.T) {
	a, c := &agents{crowded: "the port 4000 has 512 foreign connections"}, &byHand{now: time.Now()}
	w := beginAt(t, c, &engine{agents: a})
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(far("x-1"))
	w.passes(c, 10*time.Second)
	w.hears("LeasePending &{Lease:1 Why:the nodes n1,n2 are granted; waiting for the agents: 0 of 2 connected; the " +
		"port " +
		"4000 has 512 foreign connections")
	c.pass(5 * time.Minute)
	w.hears("LeaseLost &{Lease:1 Why:its agents did not connect within 5m0s: 0 of 2 connected; the port 4000 has 512 " +
		"foreign connections")
	said := w.log.String()
	if !strings.Contains(said, "find out who opens") || strings.Contains(said, "can be reached") {
		t.Error(said)
	}
	w.ask(2, "cpu=1")
	w.hears("LeasePending")
	w.LoseAgents("x-2", "no word from n1")
	w.hears("LeaseLost &{Lease:2 Why:no word from n1; the port 4000 has 512 foreign connections")
}

// B-134: an agent of the earlier host that is dead is noticed in seconds, and the user hears of its lease.
func TestAdoptedAgentIsDead(t *testing.T) {
	a, c := &agents{rejoin: true}, &byHand{now: time.Now()}
	w := beginAt(t, c, &engine{agents: a, leases: map[string]int{"x-1": 1}}, 1)
	close(a.of("x-1", 1))
	w.engine.say(far("x-1"))
	// the engine also answers the adoption, with one node; both grants come first at times
	w.passes(c, 10*time.Second)
	w.hears("LeasePending &{Lease:1")
	c.pass(5 * time.Second)
	w.hears("LeaseLost &{Lease:1 Why:its agents were connected to the earlier host, and did " +
		"not come back within 15s: 1 of ")
	a.forgot(t, "x-1")
	if said := w.log.String(); !strings.Contains(said, `lease x-1 of executor "test", which the earlier host had, is `+
		`lost: its agents were connected`) {
		t.Errorf("the user hears:\n%s", said)
	}
}

// B-134: a trial of the earlier host may still run where the agents are not back. Until they are, or their lease is
// over, or they have killed it because they have no host, no lease is granted.
func TestGrantsWaitForAgentsOfTheEarlierHost(t *testing.T) {
	for name, comes := range map[string]func(*world, *agents, *byHand){
		"they are back": func(_ *world, a *agents, _ *byHand) { close(a.of("x-2", 0)) },
		"the lease is lost": func(w *world, _ *agents, _ *byHand) {
			w.engine.say(sdk.LeaseEvent{Lease: "x-2", Kind: sdk.LeaseLost, Why: "gone"})
		},
		"the lease is released": func(w *world, _ *agents, _ *byHand) { w.release(2) },
		"they have no host":     func(_ *world, _ *agents, c *byHand) { c.pass(8 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			a, c := &agents{rejoin: true}, &byHand{now: time.Now()}
			w := beginAt(t, c, &engine{agents: a, leases: map[string]int{"x-1": 1, "x-2": 1}}, 1, 2)
			testplace.Soon(t, "the grants", func() bool { return w.Addresses(1) != nil && w.Addresses(2) != nil })
			close(a.of("x-1", 0))
			time.Sleep(20 * time.Millisecond)
			select {
			case e := <-w.events:
				t.Fatalf("before that: %T %+v", e, e)
			default:
			}
			comes(w, a, c)
			w.hearsAtLast("LeaseGranted &{Lease:1")
		})
	}
}

// The user hears why a lease of the earlier host is lost.
func TestAdoptedLeaseIsLost(t *testing.T) {
	w := beginAt(t, clock.System{}, &engine{agents: &agents{}, leases: map[string]int{"x-1": 1}}, 1)
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: "job 12 was cancelled"})
	w.hears("LeaseLost &{Lease:1 Why:job 12 was cancelled")
	if said := w.log.String(); !strings.Contains(said, `lease x-1 of executor "test", which the earlier host had, is `+
		"lost: job 12 was cancelled; what ran on it continues on another one") {
		t.Errorf("the user hears:\n%s", said)
	}
}

// B-132: the notice that an agent has of the end of its lease counts, once. The executor may say later why it ends.
func TestAgentHasNotice(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.EndAgents("x-1") // it is not granted
	close(a.of("x-1", 0))
	close(a.of("x-1", 1))
	w.engine.say(far("x-1"))
	w.hears("LeaseGranted &{Lease:1")
	w.EndAgents("x-1")
	w.hears("LeaseEnding &{Lease:1 At:0 Why:the engine has signalled the job's processes")
	w.EndAgents("x-1")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding},
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Why: "the job is preempted"},
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseEnding, Why: "again"},
		sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost})
	w.hears("LeaseEnding &{Lease:1 At:0 Why:the job is preempted}", "LeaseLost &{Lease:1")
}

// An engine may say who has ended a lease only when its trial has left: the user hears it.
func TestReasonComesAfterTheRelease(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "cpu=1")
	w.hears("LeasePending")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseGranted, Bundles: []sdk.GrantedBundle{{Node: "n1"}}})
	close(a.of("x-1", 0))
	w.hears("LeaseGranted &{Lease:1")
	w.EndAgents("x-1")
	w.hears("LeaseEnding &{Lease:1 At:0 Why:the engine has signalled the job's processes")
	w.release(1)
	a.forgot(t, "x-1")
	w.engine.say(sdk.LeaseEvent{Lease: "x-1", Kind: sdk.LeaseLost, Why: "cancelled by root"})
	const want = "x-1 of executor \"test\" was taken away: cancelled by root"
	testplace.Soon(t, "the reason", func() bool { return strings.Contains(w.log.String(), want) })
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]] secret of x-1", "release [x-1]")
	w.warned(want)
}

// B-074: a lease on which a trial could not start is given back, once, and the user hears why.
func TestLeaseIsGivenUp(t *testing.T) {
	a := &agents{}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.GiveUp(7, "it is unknown")
	close(a.of("x-1", 0))
	close(a.of("x-1", 1))
	w.engine.say(far("x-1"))
	w.hears("LeaseGranted &{Lease:1")
	w.GiveUp(1, "there is no python3 on n2")
	w.GiveUp(1, "there is no python3 on n2")
	w.hears("LeaseLost &{Lease:1 Why:there is no python3 on n2")
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}] [{cpu 1}]] secret of x-1", "release [x-1]")
	const want = "x-1 of executor \"test\" is given back: there is no python3 on n2"
	if said := w.log.String(); !strings.Contains(said, want) {
		t.Errorf("the user hears:\n%s", said)
	}
}

// Leases whose agents cannot be expected wait, with the reason, and are asked for again.
func TestAgentsCannotBeExpected(t *testing.T) {
	w := begin(t, &engine{agents: &agents{refuses: []error{errors.New("leases/x-1.json is a folder")}}})
	w.ask(1, "cpu=1")
	w.hearsAtLast("no agents can be expected: leases/x-1.json is a folder")
	w.hearsAtLast("LeasePending &{Lease:1 Why:in the queue}") // the first reason may end before there is another one
	w.release(1)
	w.ends("adopt []", "allocate x-1 pack [[{cpu 1}]] secret of x-1", "release [x-1]")
}

// A lease of an earlier host whose folder of agents is not here says so at once, and not that agents do not connect.
func TestAgentsOfAnotherFolder(t *testing.T) {
	a := &agents{unknown: true, given: errors.New("the lease has ended")}
	w := beginAt(t, clock.System{}, &engine{agents: a, leases: map[string]int{"x-1": 1}}, 1)
	w.engine.say(grant("x-1"))
	w.hears("LeaseLost &{Lease:1 Why:its agents are those of an earlier host")
}

// The reason of agents that are lost while others are awaited is that of LoseAgents.
func TestAgentsAreLostWhileAwaited(t *testing.T) {
	a := &agents{given: errors.New("the lease has ended")}
	w := beginAt(t, clock.System{}, &engine{agents: a})
	w.ask(1, "pack(cpu=1;cpu=1)")
	w.hears("LeasePending")
	w.engine.say(far("x-1"))
	testplace.Soon(t, "the grant", func() bool { return w.Addresses(1) != nil })
	w.LoseAgents("x-1", "the setup failed at: false")
	w.hears("LeaseLost &{Lease:1 Why:the setup failed at: false")
}
