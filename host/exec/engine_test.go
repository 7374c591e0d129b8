package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// engine is a cluster that executors use. It outlives them and answers as the test says.
type engine struct {
	agents exec.Agents // the agents that it starts; nil: none
	mu     sync.Mutex
	leases map[string]int // how often each was allocated, until it was released
	calls  []string
	tell   func(...sdk.LeaseEvent)
	// script has what the next calls of a name answer: nil, an error, or errCrash.
	script map[string][]error
	opened int
	silent chan string // gets the leases that are allocated; nil: the host is told
	during func()      // is called while a call to allocate is made; nil: nothing is done
	// logged is called with what the host logs; it may be nil.
	logged func(line string)
}

// A plugin crashes after a call is carried out, or before.
var (
	errCrash = errors.New("crash")
	errDead  = errors.New("dead")
)

func (e *engine) open(context.Context) (plugin.Executor, error) {
	p, err := inproc.New(sdk.ExecutorPlugin{Info: sdk.Info{Name: "test"},
		Open: func(x sdk.Execution, _ []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.tell = tell
			e.opened++
			return e, sdk.ExecutorTraits{}, nil
		}})
	if err != nil {
		return nil, err
	}
	x, err := p.OpenExecutor(context.Background(), sdk.Execution{}, nil)
	return &crashing{x, e}, err
}

// crashing is a plugin that can crash.
type crashing struct {
	plugin.Executor
	e *engine
}

// call makes a call on an engine that may fail before it or after.
func (m *crashing) call(name string, f func() error) error {
	switch err := m.e.next(name); {
	case errors.Is(err, errCrash), errors.Is(err, errDead):
		if errors.Is(err, errCrash) {
			_ = f() // the answer is lost
		}
		_ = m.Close()
		return &plugin.Error{Plugin: `executor "test"`, Failure: plugin.Crashed, What: "ended in " + name}
	case err != nil:
		return &plugin.Error{Plugin: `executor "test"`, Failure: plugin.Failed, What: "failed: " + err.Error()}
	}
	return f()
}

func (m *crashing) Allocate(ctx context.Context, l []sdk.LeaseRequest) error {
	return m.call("Allocate", func() error { return m.Executor.Allocate(ctx, l) })
}

func (m *crashing) Adopt(ctx context.Context, l []string) error {
	return m.call("Adopt", func() error { return m.Executor.Adopt(ctx, l) })
}

func (m *crashing) Release(ctx context.Context, l []string) error {
	return m.call("Release", func() error { return m.Executor.Release(ctx, l) })
}

// say sends events to the current host.
func (e *engine) say(events ...sdk.LeaseEvent) {
	e.mu.Lock()
	tell := e.tell
	e.mu.Unlock()
	tell(events...)
}

func (e *engine) next(call string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.script[call]) == 0 {
		return nil
	}
	err := e.script[call][0]
	e.script[call] = e.script[call][1:]
	return err
}

func (e *engine) note(format string, args ...any) {
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
}

func (e *engine) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.during != nil {
		e.during()
	}
	for _, r := range leases {
		e.note("%s", strings.TrimSpace(fmt.Sprintf("allocate %s %s %v %s", r.Lease, r.Strategy, r.Bundles, r.Agent)))
		if e.leases[r.Lease] == 0 {
			e.leases[r.Lease]++
		}
		if e.silent != nil {
			e.silent <- r.Lease
			continue
		}
		e.tell(sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeasePending, Why: "in the queue"})
	}
	return nil
}

func (e *engine) Adopt(_ context.Context, leases []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("adopt %v", leases)
	for l := range e.leases {
		if !slices.Contains(leases, l) {
			delete(e.leases, l)
		}
	}
	for _, l := range leases {
		if e.leases[l] == 0 {
			e.tell(sdk.LeaseEvent{Lease: l, Kind: sdk.LeaseLost, Why: "unknown"})
		} else {
			e.tell(grant(l))
		}
	}
	return nil
}

func (e *engine) Release(_ context.Context, leases []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note("release %v", leases)
	for _, l := range leases {
		delete(e.leases, l)
	}
	return nil
}

func grant(lease string) sdk.LeaseEvent {
	return sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseGranted,
		Bundles: []sdk.GrantedBundle{{Node: "n1", Devices: []string{"3"}}}, Until: time.Unix(0, 7)}
}
