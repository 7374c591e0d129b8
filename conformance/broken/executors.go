package broken

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// executor is the reference executor with a change.
type executor struct {
	sdk.CapacityExecutor
	x    sdk.Execution
	tell func(...sdk.LeaseEvent)

	// change, if set, changes an event before it is sent; allocate, adopt and release replace the
	// calls.
	change   func(e *sdk.LeaseEvent)
	allocate func(x *executor, leases []sdk.LeaseRequest) error
	adopt    func(x *executor, leases []string) error
	release  func(x *executor, leases []string) error
	more     float64 // of each free amount
	agent    string  // a script that is started in place of the agent
	known    map[string]bool
}

func (x *executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	if x.allocate != nil {
		return x.allocate(x, leases)
	}
	return x.CapacityExecutor.Allocate(ctx, leases)
}

func (x *executor) Adopt(ctx context.Context, leases []string) error {
	if x.adopt != nil {
		return x.adopt(x, leases)
	}
	return x.CapacityExecutor.Adopt(ctx, leases)
}

func (x *executor) Release(ctx context.Context, leases []string) error {
	if x.release != nil {
		return x.release(x, leases)
	}
	return x.CapacityExecutor.Release(ctx, leases)
}

func (x *executor) Capacity(ctx context.Context) ([]sdk.ClusterNode, error) {
	nodes, err := x.CapacityExecutor.Capacity(ctx)
	for _, n := range nodes {
		for i := range n.Free {
			n.Free[i].Value += x.more
		}
	}
	return nodes, err
}

// Close implements io.Closer.
func (x *executor) Close() error { return x.CapacityExecutor.(io.Closer).Close() }

func executorThat(name string, change executor) Plugin {
	p := reference.Executor
	p.Open = func(x sdk.Execution, options []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits,
		error) {
		e := change
		e.x, e.known = x, map[string]bool{}
		if err := e.wrap(); err != nil {
			return nil, sdk.ExecutorTraits{}, err
		}
		e.tell = func(events ...sdk.LeaseEvent) {
			for i := range events {
				if e.change != nil {
					e.change(&events[i])
				}
			}
			tell(events...)
		}
		inner, traits, err := reference.Executor.Open(e.x, options, e.tell)
		if err != nil {
			return nil, traits, err
		}
		e.CapacityExecutor = inner.(sdk.CapacityExecutor)
		return &e, traits, nil
	}
	return Plugin{name, sdk.KindExecutor, value(p)}
}

// withEvents changes events.
func withEvents(f func(e *sdk.LeaseEvent)) executor { return executor{change: f} }

func executors() []Plugin {
	return slices.Concat(executorsOfWords(), executorsOfCalls(), executorsOfAgents())
}

func executorsOfWords() []Plugin {
	return []Plugin{
		executorThat("executor-names-no-nodes", withEvents(func(e *sdk.LeaseEvent) {
			for i := range e.Bundles {
				e.Bundles[i].Node = ""
			}
		})),
		executorThat("executor-forgets-bundles", withEvents(func(e *sdk.LeaseEvent) {
			e.Bundles = e.Bundles[:min(len(e.Bundles), 1)]
		})),
		executorThat("executor-shares-devices", withEvents(func(e *sdk.LeaseEvent) {
			for i := range e.Bundles {
				e.Bundles[i].Node = "node-1"
			}
		})),
		executorThat("executor-gives-no-reasons", withEvents(func(e *sdk.LeaseEvent) { e.Why = "" })),
		executorThat("executor-says-it-in-lines", withEvents(func(e *sdk.LeaseEvent) { e.Why += "\nsee the log" })),
		executorThat("executor-has-more-free-than-there-is", executor{more: 10}),
		executorThat("executor-refuses-what-must-wait", withEvents(func(e *sdk.LeaseEvent) {
			if e.Kind == sdk.LeasePending {
				e.Kind = sdk.LeaseRefused
			}
		})),
	}
}

func executorsOfCalls() []Plugin {
	ctx := context.Background()
	return []Plugin{
		executorThat("executor-grants-everything", executor{allocate: func(x *executor, l []sdk.LeaseRequest) error {
			for _, r := range l {
				x.tell(sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseGranted,
					Bundles: make([]sdk.GrantedBundle, len(r.Bundles))})
			}
			return nil
		}}),
		executorThat("executor-refuses-by-errors", executor{allocate: func(x *executor, l []sdk.LeaseRequest) error {
			for _, r := range l {
				if r.Bundles[0].Get("cpu") > 100 || r.Bundles[0].Get("no_such_resource") > 0 {
					return errors.New("sbatch: error: Requested node configuration is not available")
				}
			}
			return x.CapacityExecutor.Allocate(ctx, l)
		}}),
		executorThat("executor-allocates-again", executor{allocate: func(x *executor, l []sdk.LeaseRequest) error {
			for i, r := range l {
				if x.known[r.Lease] {
					l[i].Lease += "-again"
				}
				x.known[r.Lease] = true
			}
			return x.CapacityExecutor.Allocate(ctx, l)
		}}),
		executorThat("executor-never-releases", executor{release: func(*executor, []string) error { return nil }}),
		executorThat("executor-releases-known-ones-only", executor{release: func(x *executor, l []string) error {
			if slices.Contains(l, x.x.Prefix+"99") {
				return errors.New("scancel: error: Invalid job id")
			}
			return x.CapacityExecutor.Release(ctx, l)
		}}),
		executorThat("executor-releases-when-it-ends", executor{adopt: func(x *executor, l []string) error {
			return errors.Join(x.CapacityExecutor.Adopt(ctx, nil), x.CapacityExecutor.Adopt(ctx, l))
		}}),
		executorThat("executor-adopts-what-is-not-there", executor{adopt: func(x *executor, l []string) error {
			for _, lease := range l {
				x.tell(sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseGranted,
					Bundles: []sdk.GrantedBundle{{Node: "node-1"}}})
			}
			return nil
		}}),
		executorThat("executor-talks-of-the-dead", executor{adopt: func(x *executor, l []string) error {
			err := x.CapacityExecutor.Adopt(ctx, l)
			for _, lease := range l {
				x.tell(sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseLost, Why: "it is gone"},
					sdk.LeaseEvent{Lease: lease, Kind: sdk.LeasePending, Why: "requeued"})
			}
			return err
		}}),
		executorThat("executor-tells-of-others", executor{adopt: func(x *executor, l []string) error {
			x.tell(sdk.LeaseEvent{Lease: "somebody-1", Kind: sdk.LeasePending, Why: "in the queue"})
			return x.CapacityExecutor.Adopt(ctx, l)
		}}),
	}
}
