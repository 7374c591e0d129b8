package fake

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// desk is a host of the cluster, with a clock that only the test moves.
type desk struct {
	*executor
	t     *testing.T
	clock time.Time
	heard []string
}

func open(t *testing.T, state, prefix, options string) *desk {
	t.Helper()
	o, err := read([]byte(options))
	if err != nil {
		t.Fatal(err)
	}
	o.State = state
	d := &desk{t: t, clock: time.Unix(1e9, 0)}
	d.executor = newExecutor(sdk.Execution{Prefix: prefix}, o, d.hear, func() time.Time { return d.clock })
	return d
}

// begin is a new cluster with one host.
func begin(t *testing.T, options string) *desk {
	t.Helper()
	d := open(t, filepath.Join(t.TempDir(), "cluster.json"), "a-", options)
	d.must(d.Adopt(t.Context(), nil))
	return d
}

func (d *desk) hear(events ...sdk.LeaseEvent) {
	for _, e := range events {
		text := e.Lease + " " + e.Kind.String()
		for _, b := range e.Bundles {
			text += " " + b.Node + strings.Join(b.Devices, ",")
		}
		if !e.Until.IsZero() {
			text += fmt.Sprint(" until ", e.Until.Sub(time.Unix(1e9, 0)))
		}
		if e.Why != "" {
			text += ": " + e.Why
		}
		d.heard = append(d.heard, text)
	}
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// pass lets time pass.
func (d *desk) pass(dt time.Duration) {
	d.t.Helper()
	d.clock = d.clock.Add(dt)
	d.must(d.update(nil))
}

func (d *desk) ask(lease string, bundles ...sdk.LeaseBundle) {
	d.t.Helper()
	d.askHow("pack", lease, bundles...)
}

func (d *desk) askHow(strategy, lease string, bundles ...sdk.LeaseBundle) {
	d.t.Helper()
	d.must(d.Allocate(d.t.Context(), []sdk.LeaseRequest{{Lease: lease, Strategy: strategy, Bundles: bundles}}))
}

// says compares what was heard since the last time.
func (d *desk) says(want ...string) {
	d.t.Helper()
	if got := strings.Join(d.heard, "\n"); got != strings.Join(want, "\n") {
		d.t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	d.heard = nil
}

func of(name string, value float64) sdk.LeaseBundle {
	return sdk.LeaseBundle{{Name: name, Value: value}}
}

// TestNotice: a lease must last longer than the notice of its end, or else each is ending when it is granted.
func TestNotice(t *testing.T) {
	for options, want := range map[string]string{
		`{"time": 2, "notice": 1}`:  "",
		`{"time": 2, "notice": 0}`:  "",
		`{"notice": 100}`:           "",
		`{"time": 5, "notice": 5}`:  `option "notice" is 5; allowed: less than time, which is 5,`,
		`{"time": 4}`:               `option "notice" is 5; `,
		`{"time": 1, "notice": 60}`: `option "notice" is 60; `,
	} {
		_, err := read([]byte(options))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}

func TestGrants(t *testing.T) {
	d := begin(t, `{"nodes": 2, "cpu": 2, "gpu": 2}`)
	d.ask("a-1", of("gpu", 1))
	d.ask("a-2", of("gpu", 0.5))
	d.ask("a-3", of("gpu", 0.5))
	d.ask("a-4", of("gpu", 2))
	d.ask("a-5", of("gpu", 1))
	d.says("a-1 granted fake-10", "a-2 granted fake-11", "a-3 granted fake-11", "a-4 granted fake-20,1",
		"a-5 pending: no node has room for gpu 1")
	d.must(d.Release(t.Context(), []string{"a-1", "a-99"}))
	d.says("a-5 granted fake-10")
	d.must(d.Release(t.Context(), []string{"a-1"}))
	d.says()
}

// The queue is first come first served, but a request that fits goes ahead.
func TestQueue(t *testing.T) {
	d := begin(t, `{"nodes": 1, "cpu": 2, "queue": 10}`)
	d.ask("a-1", of("cpu", 1))
	d.pass(9 * time.Second)
	d.ask("a-2", of("cpu", 2))
	d.ask("a-3", of("cpu", 1))
	d.says("a-1 pending: in the queue", "a-2 pending: in the queue", "a-3 pending: in the queue")
	d.pass(time.Second)
	d.says("a-1 granted fake-1")
	d.pass(time.Minute)
	d.says("a-2 pending: no node has room for cpu 2", "a-3 granted fake-1")
}

// B-135
func TestRefuses(t *testing.T) {
	d := begin(t, `{"nodes": 2, "cpu": 2, "memory_gib": 0}`)
	d.ask("a-1", of("cpu", 3))
	d.ask("a-2", of("licence", 1))
	d.askHow("strict_spread", "a-3", nil, nil, nil)
	d.askHow("strict_pack", "a-4", of("cpu", 1), of("cpu", 2))
	d.says("a-1 refused: no place for cpu 3 in a cluster of 2 nodes with cpu 2 each",
		"a-2 refused: no place for licence 1 in a cluster of 2 nodes with cpu 2 each",
		"a-3 refused: no place for 3 bundles (strict_spread) in a cluster of 2 nodes with cpu 2 each",
		"a-4 refused: no place for 2 bundles (strict_pack) in a cluster of 2 nodes with cpu 2 each")
	d = begin(t, `{"refuse": 0.999999}`)
	d.ask("a-1", nil)
	d.says("a-1 refused: the account may not use this cluster today")
}

func TestGangs(t *testing.T) {
	d := begin(t, `{"nodes": 3, "cpu": 2}`)
	d.askHow("strict_spread", "a-1", of("cpu", 1), of("cpu", 1), of("cpu", 1))
	d.askHow("strict_pack", "a-2", of("cpu", 1), of("cpu", 1))
	d.askHow("spread", "a-3", of("cpu", 1), of("cpu", 1), of("cpu", 1))
	d.says("a-1 granted fake-1 fake-2 fake-3", "a-2 pending: no node has room for 2 bundles (strict_pack)",
		"a-3 granted fake-1 fake-2 fake-3")
	d.must(d.Release(t.Context(), []string{"a-1"}))
	d.says()
	d.must(d.Release(t.Context(), []string{"a-3"}))
	d.says("a-2 granted fake-1 fake-1")
}

// B-132
func TestEnds(t *testing.T) {
	d := begin(t, `{"time": 60, "notice": 10}`)
	d.ask("a-1", nil)
	d.says("a-1 granted fake-1 until 1m0s")
	d.pass(50 * time.Second)
	d.says("a-1 ending until 1m0s: its time is over")
	d.pass(10 * time.Second)
	d.says("a-1 lost: its time is over")
	d = begin(t, `{"time": 60, "notice": 0}`)
	d.ask("a-1", nil)
	d.pass(time.Minute)
	d.says("a-1 granted fake-1 until 1m0s", "a-1 lost: its time is over")
	d = begin(t, `{"preempt": 60, "notice": 10}`)
	d.ask("a-1", nil)
	d.pass(89 * time.Second)
	d.pass(time.Second)
	if len(d.heard) < 2 || d.heard[0] != "a-1 granted fake-1" ||
		!strings.HasSuffix(d.heard[len(d.heard)-1], "lost: preempted") {
		t.Error(d.heard)
	}
}

// A lease that began to end while nobody looked was granted first.
func TestEndsUnseen(t *testing.T) {
	d := begin(t, `{"queue": 1, "time": 60, "notice": 10}`)
	d.ask("a-1", nil)
	d.pass(55 * time.Second)
	d.says("a-1 pending: in the queue", "a-1 granted fake-1 until 1m1s", "a-1 ending until 1m1s: its time is over")
}

// B-133
func TestNodesFail(t *testing.T) {
	for options, why := range map[string]string{
		`{"nodes": 1, "lose_node": 60, "repair": 30}`: "lost: the node fake-1 failed",
		`{"nodes": 1, "cut_off": 60, "repair": 30}`: "lost: the node fake-1 is cut off; " +
			"processes there may continue for a while",
	} {
		d := begin(t, options)
		d.ask("a-1", nil)
		for range 91 {
			if d.pass(time.Second); len(d.heard) > 1 {
				break
			}
		}
		d.says("a-1 granted fake-1", "a-1 "+why)
		d.ask("a-2", nil)
		d.says("a-2 pending: no node has room for it")
		d.pass(30 * time.Second)
		d.says("a-2 granted fake-1")
		d.must(d.Release(t.Context(), []string{"a-1", "a-2"}))
	}
}

// The same options and the same calls at the same times: the same happens.
func TestDeterministic(t *testing.T) {
	run := func(seed int) string {
		d := begin(t, fmt.Sprintf(`{"nodes": 3, "preempt": 20, "lose_node": 30, "queue": 2, "seed": %d}`, seed))
		for i := range 20 {
			d.ask(fmt.Sprint("a-", i), of("cpu", 2))
			d.pass(3 * time.Second)
		}
		return strings.Join(d.heard, "\n")
	}
	first := run(1)
	if again := run(1); again != first {
		t.Error("the same seed, and something else happens")
	}
	if other := run(2); other == first {
		t.Error("another seed, and the same happens")
	}
}

// B-134: leases survive the plugin's process and continue meanwhile; what Adopt does not
// list is released.
func TestAdopts(t *testing.T) {
	d := begin(t, `{"nodes": 1, "cpu": 3, "queue": 5}`)
	d.ask("a-1", of("cpu", 1))
	d.pass(time.Minute)
	d.ask("a-2", of("cpu", 1))
	d.ask("a-3", of("cpu", 1))
	later := open(t, d.State, "a-", `{"nodes": 1, "cpu": 3, "queue": 5}`)
	later.clock = d.clock.Add(6 * time.Second)
	later.pass(0)
	later.says() // nothing before Adopt
	later.must(later.Adopt(t.Context(), []string{"a-1", "a-2", "a-7"}))
	later.says("a-7 lost: the cluster has no such lease", "a-1 granted fake-1", "a-2 granted fake-1")
	later.ask("a-8", of("cpu", 1))
	later.pass(5 * time.Second)
	later.says("a-8 pending: in the queue", "a-8 granted fake-1") // a-3 is gone
}

// B-134: without a host for host_grace the leases of an experiment end, and only those.
func TestHostGrace(t *testing.T) {
	a := begin(t, `{"nodes": 1, "cpu": 2}`)
	a.ask("a-1", of("cpu", 1))
	b := open(t, a.State, "b-", `{"nodes": 1, "cpu": 2}`)
	a.HostGrace, b.HostGrace = 60, 60
	b.must(b.Adopt(t.Context(), nil))
	b.ask("b-1", of("cpu", 1))
	b.ask("b-2", of("cpu", 1))
	for range 59 {
		b.pass(time.Second)
	}
	b.says("b-1 granted fake-1", "b-2 pending: no node has room for cpu 1")
	b.pass(time.Second)
	b.says("b-2 granted fake-1")
	a.clock = b.clock
	a.must(a.Adopt(t.Context(), []string{"a-1"}))
	if got := a.heard[len(a.heard)-1]; got != "a-1 lost: the cluster has no such lease" {
		t.Error(got)
	}
}

// A call that fails may have taken effect; made again it succeeds in the end, and
// nothing was taken twice.
func TestFlaky(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "cluster.json"), "a-", `{"nodes": 1, "cpu": 100, "flaky": 0.7}`)
	failed := 0
	try := func(call func() error) {
		for {
			err := call()
			if err == nil {
				return
			}
			if failed++; !errors.Is(err, errFlaky) || failed > 1000 {
				t.Fatal(err)
			}
		}
	}
	try(func() error { return d.Adopt(t.Context(), nil) })
	for i := range 100 {
		r := []sdk.LeaseRequest{{Lease: fmt.Sprint("a-", i), Bundles: []sdk.LeaseBundle{of("cpu", 1)}}}
		try(func() error { return d.Allocate(t.Context(), r) })
		if i >= 50 {
			try(func() error { return d.Release(t.Context(), []string{r[0].Lease}) })
		}
	}
	var nodes []sdk.ClusterNode
	try(func() (err error) {
		nodes, err = d.Capacity(t.Context())
		return err
	})
	if left := sdk.LeaseBundle(nodes[0].Free).Get("cpu"); left != 50 || failed < 100 {
		t.Errorf("%v CPUs are left of 100, after %d failures", left, failed)
	}
}

func TestSlow(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "cluster.json"), "a-", `{"slow": 1000}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Adopt(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestBadState(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "no", "such", "folder"), "a-", `{}`)
	if err := d.Adopt(t.Context(), nil); err == nil {
		t.Error("there is no such folder")
	}
}

// TestShortTimes: a time at which something happens again and again is 0 or not too short.
func TestShortTimes(t *testing.T) {
	for text, want := range map[string]string{
		`{"lose_node": 1e-9}`:         `option "lose_node" is 1e-9; allowed: 0, or at least 0.1`,
		`{"cut_off": 1e-300}`:         `option "cut_off" is 1e-300; allowed: 0, or at least 0.1`,
		`{"preempt": 0.01}`:           `option "preempt" is 0.01; allowed: 0, or at least 0.1`,
		`{"time": 0.01, "notice": 0}`: `option "time" is 0.01; allowed: 0, or at least 0.1`,
		`{"lose_node": 0.1}`:          "<nil>",
		`{"cut_off": 0, "repair": 0}`: "<nil>",
	} {
		if _, err := read([]byte(text)); !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestLongAway: after years without a host the cluster continues at once. Replaying each loss of a node took hours.
func TestLongAway(t *testing.T) {
	d := begin(t, `{"nodes": 1, "lose_node": 5, "cut_off": 0.1, "repair": 0}`)
	d.HostGrace = maxSeconds
	d.ask("a-1", nil)
	d.pass(30 * 365 * 24 * time.Hour)
	if len(d.heard) != 2 || !strings.HasPrefix(d.heard[1], "a-1 lost: ") {
		t.Error(d.heard)
	}
	d.ask("a-2", nil)
	if got := d.heard[len(d.heard)-1]; got != "a-2 granted fake-1" {
		t.Error(got)
	}
}

// TestSkips: what happens after the bound is not replayed, and no lease is held through it.
func TestSkips(t *testing.T) {
	c, o := newCluster(1), options{Nodes: 1, LoseNode: 1, HostGrace: maxSeconds}
	c.Leases["a-1"] = &lease{Stage: granted, Number: 1}
	c.Lost = disaster{Next: 2}
	c.advance(&o, 1e18)
	if l := c.Leases["a-1"]; c.Now != 1e18 || l.Stage != lost || c.Lost.Count > 2*maxEvents {
		t.Errorf("%+v %+v", c, l)
	}
}
