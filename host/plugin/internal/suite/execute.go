package suite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Executor answers each call with events that repeat what it was called with.
var Executor = sdk.ExecutorPlugin{
	Info: sdk.Info{Name: "probe", Version: "1"},
	Open: func(x sdk.Execution, options []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits,
		error) {
		o := read(options)
		if o.Do == "refuse" {
			return nil, sdk.ExecutorTraits{}, errors.New("no such partition")
		}
		return &executor{o: o, x: x, tell: tell}, sdk.ExecutorTraits{Gangs: true,
			Agents: x.Agent != nil}, nil
	},
}

type executor struct {
	o    Options
	x    sdk.Execution
	tell func(...sdk.LeaseEvent)
}

func (e *executor) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	switch e.o.Do {
	case "panic":
		panic("no luck")
	case "fail":
		return errors.New("the controller\nis down")
	case "hang":
		<-make(chan bool)
	case "exit":
		os.Exit(3)
	}
	for _, r := range leases {
		granted := sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseGranted, Why: r.Strategy, Until: time.Unix(7, 9)}
		for _, b := range r.Bundles {
			granted.Bundles = append(granted.Bundles, sdk.GrantedBundle{Node: b[0].Name, Devices: []string{"0", "3"},
				Address: r.Agent + e.x.Agent.SHA256 + e.x.Agent.Path})
		}
		e.tell(sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeasePending, Why: "in the queue"}, granted)
	}
	return nil
}

func (e *executor) Adopt(_ context.Context, leases []string) error {
	for _, l := range leases {
		e.tell(sdk.LeaseEvent{Lease: e.x.Prefix + l, Kind: sdk.LeaseLost, Why: e.x.Experiment})
	}
	return nil
}

func (e *executor) Release(_ context.Context, leases []string) error {
	for _, l := range leases {
		e.tell(sdk.LeaseEvent{Lease: l, Kind: sdk.LeaseEnding})
	}
	return nil
}

func (e *executor) Capacity(context.Context) ([]sdk.ClusterNode, error) { return cluster, nil }

// Close leaves a mark.
func (e *executor) Close() error { return os.WriteFile(filepath.Join(e.x.Dir, "closed"), nil, 0o600) }

var cluster = []sdk.ClusterNode{{Name: "n1", Total: []sdk.Amount{{Name: "cpu", Value: 4}},
	Free: []sdk.Amount{{Name: "cpu", Value: 0.5}}}, {Name: "n2", Down: true}}

func openExecutor(t *testing.T, start Start, options []byte) (plugin.Executor, string, error) {
	t.Helper()
	dir := t.TempDir()
	x := sdk.Execution{Experiment: "digits", Dir: dir, Prefix: "th-7-",
		Agent: &sdk.Agent{Path: "/bin/tunehost", SHA256: "00"}}
	e, err := start(t, sdk.KindExecutor).OpenExecutor(t.Context(), x, options)
	return e, dir, err
}

// hear receives n events.
func hear(t *testing.T, e plugin.Executor, n int) (all []sdk.LeaseEvent) {
	t.Helper()
	for len(all) < n {
		events, err := e.Recv()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
	}
	return all
}

func executes(t *testing.T, start Start) {
	e, dir, err := openExecutor(t, start, nil)
	if err != nil || e.Traits() != (sdk.ExecutorTraits{Gangs: true, Capacity: true, Agents: true}) {
		t.Fatal(e, err)
	}
	err = errors.Join(e.Adopt(t.Context(), []string{"1"}),
		e.Allocate(t.Context(), []sdk.LeaseRequest{{Lease: "b", Strategy: "spread", Agent: "key",
			Bundles: []sdk.LeaseBundle{{{Name: "cpu", Value: 1}}, {{Name: "gpu", Value: 0.5}}}}}),
		e.Release(t.Context(), []string{"b"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []sdk.LeaseEvent{{Lease: "th-7-1", Kind: sdk.LeaseLost, Why: "digits"},
		{Lease: "b", Kind: sdk.LeasePending, Why: "in the queue"},
		{Lease: "b", Kind: sdk.LeaseGranted, Why: "spread", Until: time.Unix(7, 9), Bundles: []sdk.GrantedBundle{
			{Node: "cpu", Devices: []string{"0", "3"}, Address: "key00/bin/tunehost"},
			{Node: "gpu", Devices: []string{"0", "3"}, Address: "key00/bin/tunehost"}}},
		{Lease: "b", Kind: sdk.LeaseEnding}}
	if d := cmp.Diff(want, hear(t, e, len(want))); d != "" {
		t.Error(d)
	}
	if nodes, err := e.Capacity(t.Context()); err != nil || !cmp.Equal(nodes, cluster) {
		t.Error(nodes, err)
	}
	closesExecutor(t, e, dir)
}

func closesExecutor(t *testing.T, e plugin.Executor, dir string) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := e.Recv()
		ended <- err
	}()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "closed")); err != nil {
		t.Error("it was not closed")
	}
}

// manyLeases returns more leases than fit into one message.
func manyLeases() (list []sdk.LeaseRequest) {
	for range 1000 {
		list = append(list, sdk.LeaseRequest{Lease: "x"})
	}
	return list
}

func executorFails(t *testing.T, start Start) {
	if _, _, err := openExecutor(t, start, Do("refuse")); true {
		wants(t, err, plugin.Refused, "refused: no such partition")
	}
	for do, want := range map[string]string{"panic": "panic in Allocate: no luck",
		"fail": "could not ask for leases: the controller / is down"} {
		e, _, err := openExecutor(t, start, Do(do))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, e.Allocate(t.Context(), manyLeases()), plugin.Failed, want)
	}
	e, _, err := openExecutor(t, start, Do("hang"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wants(t, e.Allocate(ctx, manyLeases()), plugin.Hung, "did not answer Allocate within its deadline")
	_, err = start(t, sdk.KindSearcher).OpenExecutor(t.Context(), sdk.Execution{}, nil)
	wants(t, err, plugin.NotStarted, "is not an executor")
}
