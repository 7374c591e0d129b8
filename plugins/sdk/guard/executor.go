package guard

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Executor is an opened executor, with the events of leases that nobody has taken
// yet.
type Executor struct {
	mu     sync.Mutex
	impl   sdk.Executor
	traits sdk.ExecutorTraits
	events eventQueue
}

// OpenExecutor opens an executor.
func OpenExecutor(p sdk.ExecutorPlugin, x sdk.Execution, opts []byte) (*Executor, error) {
	e := &Executor{events: eventQueue{more: make(chan struct{}, 1)}}
	var err error
	e.impl, e.traits, err = open(func() (sdk.Executor, sdk.ExecutorTraits, error) {
		return p.Open(x, options(opts), e.events.add)
	})
	_, e.traits.Capacity = e.impl.(sdk.CapacityExecutor)
	return e, err
}

// Traits are what it said when it was opened.
func (e *Executor) Traits() sdk.ExecutorTraits { return e.traits }

// Allocate implements sdk.Executor.
func (e *Executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	return e.call("Allocate", func() error { return e.impl.Allocate(ctx, leases) })
}

// Adopt implements sdk.Executor.
func (e *Executor) Adopt(ctx context.Context, leases []string) error {
	return e.call("Adopt", func() error { return e.impl.Adopt(ctx, leases) })
}

// Release implements sdk.Executor.
func (e *Executor) Release(ctx context.Context, leases []string) error {
	return e.call("Release", func() error { return e.impl.Release(ctx, leases) })
}

// Capacity implements sdk.CapacityExecutor.
func (e *Executor) Capacity(ctx context.Context) (nodes []sdk.ClusterNode, err error) {
	c, ok := e.impl.(sdk.CapacityExecutor)
	if !ok {
		return nil, errors.New("the executor does not know what its cluster has")
	}
	err = e.call("Capacity", func() (err error) {
		nodes, err = c.Capacity(ctx)
		return err
	})
	return nodes, err
}

func (e *Executor) call(name string, f func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return protect(name, f)
}

// Recv waits for events of leases and returns all of them; io.EOF after Close.
func (e *Executor) Recv(ctx context.Context) ([]sdk.LeaseEvent, error) { return e.events.take(ctx) }

// EndRecv makes Recv return.
func (e *Executor) EndRecv() { e.events.end() }

// Close closes an executor that is an io.Closer, and ends Recv.
func (e *Executor) Close() error {
	e.EndRecv()
	c, ok := e.impl.(io.Closer)
	if !ok {
		return nil
	}
	return e.call("Close", c.Close)
}

// eventQueue is a queue that the executor fills without ever waiting.
type eventQueue struct {
	mu     sync.Mutex
	queue  []sdk.LeaseEvent
	closed bool
	more   chan struct{} // holds one when there is something to look at
}

func (n *eventQueue) add(events ...sdk.LeaseEvent) {
	n.mu.Lock()
	n.queue = append(n.queue, events...)
	n.mu.Unlock()
	n.wake()
}

func (n *eventQueue) end() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.wake()
}

func (n *eventQueue) wake() {
	select {
	case n.more <- struct{}{}:
	default:
	}
}

func (n *eventQueue) take(ctx context.Context) ([]sdk.LeaseEvent, error) {
	for {
		n.mu.Lock()
		out, closed := n.queue, n.closed
		n.queue = nil
		n.mu.Unlock()
		switch {
		case closed:
			n.wake() // for the next reader
			return nil, io.EOF
		case len(out) > 0:
			return out, nil
		}
		select {
		case <-n.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
