package fake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the executor.
var Plugin = sdk.ExecutorPlugin{
	Info: sdk.Info{
		Kind: sdk.KindExecutor, Name: "fake", Version: "1.0.0",
		Summary: "A cluster that does not exist: it queues, preempts and loses nodes as told, and trials run on this " +
			"machine.",
		Options: declared.Schema(),
	},
	Open: func(x sdk.Execution, text []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
		o, err := read(text)
		if err == nil {
			err = o.checkState(x.Dir)
		}
		if err == nil && o.Agents && x.Agent == nil {
			err = errors.New("this host cannot start agents: leave the option agents out")
		}
		if err == nil && o.Agents {
			err = checkAgentDir(x.Dir)
		}
		if err != nil {
			return nil, sdk.ExecutorTraits{}, err
		}
		e := newExecutor(x, o, tell, time.Now)
		if err := e.update(func(*cluster) {}); err != nil { // the file can be read and written
			return nil, sdk.ExecutorTraits{}, err
		}
		go e.follow()
		return e, sdk.ExecutorTraits{Gangs: true, Agents: o.Agents}, nil
	},
}

type executor struct {
	options
	prefix string
	file   file
	tell   func(...sdk.LeaseEvent)
	now    func() time.Time
	ctx    context.Context // until Close
	end    context.CancelFunc

	mu      sync.Mutex
	adopted bool
	// told is what the host has last been told of each lease.
	told map[string]told
	seen int64 // when the file last said that the experiment has a host

	// agent is what runs on the bundles of leases, with its output below dir; tended is when they were last
	// looked at.
	agent  sdk.Agent
	dir    string
	tended int64
}

type told struct {
	stage stage
	why   string
}

func newExecutor(x sdk.Execution, o options, tell func(...sdk.LeaseEvent), now func() time.Time) *executor {
	o.HostGrace = max(cmp.Or(x.HostGrace.Seconds(), usualGrace), minGrace)
	e := &executor{options: o, prefix: x.Prefix, file: file{o.statePath(x.Dir), lockTries}, tell: tell, now: now,
		told: map[string]told{}, dir: x.Dir}
	if x.Agent != nil {
		e.agent = *x.Agent
	}
	e.ctx, e.end = context.WithCancel(context.Background())
	return e
}

// seenEvery is how often the file says that the experiment has a host.
const seenEvery = time.Second

// update brings the cluster up to date, changes it, and tells the host what is new.
func (e *executor) update(change func(c *cluster)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file.change(e.now().UnixNano(), func(c *cluster) bool {
		now := max(e.now().UnixNano(), c.Now)
		c.advance(&e.options, now)
		if change != nil {
			change(c)
			c.advance(&e.options, now)
		}
		tended := e.tend(c, now)
		write := change != nil || e.news(c) || tended || now-e.seen > int64(seenEvery)
		if write {
			c.Hosts[e.prefix], e.seen = now, now
		}
		if change != nil {
			e.news(c)
		}
		return write
	})
}

// news tells what has become of the experiment's leases since it was last told.
func (e *executor) news(c *cluster) bool {
	var events []sdk.LeaseEvent
	for _, l := range c.queue() {
		if l.Prefix == e.prefix && e.adopted {
			events = append(events, e.about(l)...)
		}
	}
	for name, t := range e.told {
		if t.stage == lost || t.stage == refused {
			delete(c.Leases, name) // its host knows, and releases it no more
		}
		if c.Leases[name] == nil {
			delete(e.told, name)
		}
	}
	e.tell(events...)
	return len(events) > 0
}

// about is what is new of a lease.
func (e *executor) about(l *lease) (events []sdk.LeaseEvent) {
	before, is := e.told[l.Request.Lease], told{l.Stage, l.Why}
	if before == is {
		return nil
	}
	e.told[l.Request.Lease] = is
	if l.Stage == ending && before.stage != granted {
		events = append(events, l.grantedEvent())
	}
	return append(events, l.event())
}

// Allocate implements sdk.Executor.
func (e *executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	return e.call(ctx, func(c *cluster) {
		for _, r := range leases {
			c.ask(&e.options, e.prefix, r)
			delete(e.told, r.Lease)
		}
	})
}

// Adopt implements sdk.Executor.
func (e *executor) Adopt(ctx context.Context, leases []string) error {
	return e.call(ctx, func(c *cluster) {
		e.adopted = true
		clear(e.told)
		for name, l := range c.Leases {
			if l.Prefix == e.prefix && !slices.Contains(leases, name) {
				delete(c.Leases, name)
			}
		}
		for _, name := range leases {
			if c.Leases[name] == nil {
				e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost, Why: "the cluster has no such lease"})
			}
		}
	})
}

// Release implements sdk.Executor.
func (e *executor) Release(ctx context.Context, leases []string) error {
	return e.call(ctx, func(c *cluster) {
		for _, name := range leases {
			if strings.HasPrefix(name, e.prefix) {
				delete(c.Leases, name)
			}
		}
	})
}

// Capacity implements sdk.CapacityExecutor.
func (e *executor) Capacity(ctx context.Context) (nodes []sdk.ClusterNode, err error) {
	err = e.call(ctx, func(c *cluster) { nodes = c.capacity(&e.options) })
	return nodes, err
}

var errFlaky = errors.New("the controller of the cluster does not answer")

// call carries a call out, as slowly and unreliably as it was asked for.
func (e *executor) call(ctx context.Context, change func(c *cluster)) error {
	select {
	case <-time.After(time.Duration(span(e.Slow))):
	case <-ctx.Done():
		return ctx.Err()
	}
	fails := false
	err := e.update(func(c *cluster) {
		c.Calls++
		fails = e.draw("flaky", c.Calls) < e.Flaky
		if !fails || e.draw("flaky late", c.Calls) < 0.5 {
			change(c)
		}
	})
	if err == nil && fails {
		err = errFlaky
	}
	return err
}

// Others may change the cluster, too, so it is looked at from time to time.
const lookEvery = 100 * time.Millisecond

// follow tells the host what happens by itself.
func (e *executor) follow() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
			_ = e.update(nil) // the next call says what is wrong with the file
		}
	}
}

// Close implements io.Closer.
func (e *executor) Close() error {
	e.end()
	return nil
}
