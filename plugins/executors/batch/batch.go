package batch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the executor.
var Plugin = sdk.ExecutorPlugin{
	Info: sdk.Info{
		Kind: sdk.KindExecutor, Name: "batch", Version: "1.0.0",
		Summary: "Jobs of a batch system, such as PBS, LSF, Grid Engine, HTCondor or Flux, by templates of its " +
			"commands.",
		Options: declared.Schema(),
	},
	Open: open,
}

func open(x sdk.Execution, text []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
	p, err := read(text)
	if err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	e := &executor{plan: p, execution: x, tell: tell}
	if e.store, err = openStore(x.Dir, x.Prefix); err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	if e.leases, err = e.store.read(); err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	e.ctx, e.end = context.WithCancel(context.Background())
	e.look = make(chan struct{}, 1)
	e.done.Go(e.follow)
	return e, sdk.ExecutorTraits{Gangs: p.gangs(), Agents: x.Agent != nil}, nil
}

type executor struct {
	*plan
	execution sdk.Execution
	store     *store
	tell      func(...sdk.LeaseEvent)
	ctx       context.Context // until Close
	end       context.CancelFunc
	look      chan struct{} // makes follow look at once
	done      sync.WaitGroup

	mu      sync.Mutex
	leases  map[string]*lease
	adopted bool
	// vanished are jobs of lost leases of which the system said nothing.
	vanished []string
	// apart: nodes do not see the folder, so jobs cannot write their places there.
	apart bool
}

// at once is how many commands run at the same time: a batch system's server has other users.
const atOnce = 4

// each calls f for each name, some at a time, and returns the errors. It stops after ctx ends.
func each(ctx context.Context, names []string, f func(name string) error) error {
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	errs := make([]error, len(names))
	for i, name := range names {
		slots <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			break
		}
		group.Go(func() {
			errs[i] = f(name)
			<-slots
		})
	}
	group.Wait()
	return firstOf(errors.Join(errs...))
}

// change changes the record, and writes it.
func (e *executor) change(f func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	return e.store.write(e.leases)
}

func (e *executor) lease(name string) *lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leases[name]
}

// Allocate implements sdk.Executor.
func (e *executor) Allocate(ctx context.Context, requests []sdk.LeaseRequest) error {
	byName := map[string]sdk.LeaseRequest{}
	var names []string
	for _, r := range requests {
		byName[r.Lease] = r
		names = append(names, r.Lease)
	}
	defer e.nudge()
	return each(ctx, names, func(name string) error { return e.allocate(ctx, byName[name]) })
}

func (e *executor) nudge() {
	select {
	case e.look <- struct{}{}:
	default:
	}
}

// allocate submits the job of a lease, once.
func (e *executor) allocate(ctx context.Context, r sdk.LeaseRequest) error {
	if l := e.lease(r.Lease); l != nil {
		id, err := e.find(ctx, r.Lease, l)
		if err != nil || id != "" {
			e.again(l)
			return err
		}
	}
	n, err := e.needs(r)
	if err == nil && !plainName(r.Lease) {
		err = errors.New("the name of the lease is not one of small letters, digits and dashes")
	}
	var words, launch []string
	if err == nil {
		words, err = e.submit.expand(e.values(r.Lease, e.store.dir, n))
	}
	if err == nil && n.nodes > 1 {
		launch, err = e.launchWords(n)
	}
	if err != nil {
		return e.refuse(r.Lease, err.Error())
	}
	if err := e.prepare(r, n, launch); err != nil {
		return err
	}
	return e.send(ctx, r.Lease, words)
}

// again reports the state of a lease as if it were new.
func (e *executor) again(l *lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.why, l.ending = "", false
}

func (e *executor) refuse(name, why string) error {
	l := e.lease(name)
	err := e.change(func() { delete(e.leases, name) })
	if l != nil {
		err = errors.Join(err, e.store.clear(name, l.Bundles, true))
	}
	e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseRefused, Why: oneLine(why)})
	return err
}

// prepare writes the scripts, and records that the job is about to be submitted.
func (e *executor) prepare(r sdk.LeaseRequest, n *needs, launch []string) error {
	if e.lease(r.Lease) == nil { // no job of it can have begun
		if err := e.store.vacate(r.Lease, n.nodes); err != nil {
			return err
		}
	}
	j := &job{plan: e.plan, dir: e.store.dir, lease: r.Lease, agent: e.execution.Agent, secret: r.Agent}
	if err := e.store.put(r.Lease+scriptSuffix, j.script(launch)); err != nil {
		return err
	}
	if launch != nil {
		if err := e.store.put(r.Lease+bundleSuffix, j.onEach()); err != nil {
			return err
		}
	}
	return e.change(func() {
		e.leases[r.Lease] = &lease{Bundles: n.nodes, GPUs: n.gpu,
			Spread: r.Strategy == "strict_spread"}
	})
}

// send submits the job.
func (e *executor) send(ctx context.Context, name string, words []string) error {
	o, err := e.run(ctx, e.store.dir, words)
	if err != nil {
		return err
	}
	if o.status != 0 {
		if e.refused != nil && e.refused.MatchString(o.all()) {
			return e.refuse(name, o.said())
		}
		return o.failed(o.exited())
	}
	id := found(e.id, o.out)
	if id == "" {
		return o.failed("printed no id of a job (option id)")
	}
	return e.owns(name, id)
}

// Adopt implements sdk.Executor.
func (e *executor) Adopt(ctx context.Context, names []string) error {
	e.mu.Lock()
	for _, l := range e.leases {
		l.why, l.ending, l.gone = "", false, 0
	}
	others := slices.Collect(maps.Keys(e.leases))
	e.mu.Unlock()
	others = slices.DeleteFunc(others, func(name string) bool {
		return slices.Contains(names, name) || !strings.HasPrefix(name, e.execution.Prefix)
	})
	if err := e.Release(ctx, others); err != nil {
		return err
	}
	if err := each(ctx, names, func(name string) error { return e.adopt(ctx, name) }); err != nil {
		return err
	}
	e.mu.Lock()
	e.adopted = true
	e.mu.Unlock()
	e.nudge()
	return nil
}

// adopt continues with a lease, if it has a job.
func (e *executor) adopt(ctx context.Context, name string) error {
	l, id := e.lease(name), ""
	if l != nil {
		var err error
		if id, err = e.find(ctx, name, l); err != nil {
			return err
		}
	}
	if id == "" {
		return e.lose(name, "no job of it is known")
	}
	e.mu.Lock()
	granted := l.Granted
	e.mu.Unlock()
	if granted != nil {
		e.tell(e.grantedEvent(name, l))
	}
	return nil
}

// lose forgets a lease, and reports its loss.
func (e *executor) lose(name, why string) error {
	l := e.lease(name)
	err := e.change(func() { delete(e.leases, name) })
	if l != nil {
		err = errors.Join(err, e.store.clear(name, l.Bundles, false))
	}
	e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost, Why: oneLine(why)})
	return err
}

// Release implements sdk.Executor.
func (e *executor) Release(ctx context.Context, names []string) error {
	return each(ctx, names, func(name string) error { return e.release(ctx, name) })
}

func (e *executor) release(ctx context.Context, name string) error {
	l := e.lease(name)
	if l == nil {
		return nil
	}
	if err := e.store.disarm(name); err != nil {
		return err
	}
	id, err := e.find(ctx, name, l)
	if err == nil && id != "" {
		err = e.cancelJob(ctx, id)
	}
	if err != nil {
		return err
	}
	if err := e.store.clear(name, l.Bundles, true); err != nil {
		return err
	}
	return e.change(func() { delete(e.leases, name) })
}

// cancelJob cancels a job that may have ended already.
func (e *executor) cancelJob(ctx context.Context, id string) error {
	words, err := e.cancel.expand(values{"id": {id}})
	if err != nil {
		return err
	}
	o, err := e.run(ctx, e.store.dir, words)
	if err == nil && o.status != 0 && !e.saysEnded(o) {
		err = o.failed(o.exited())
	}
	return err
}

// saysEnded reports whether a command has failed because its job has ended. One that says nothing does not say so.
func (e *executor) saysEnded(o *output) bool { return !o.blank() && e.ended.MatchString(o.all()) }

// Close implements io.Closer. It releases nothing.
func (e *executor) Close() error {
	e.end()
	e.done.Wait()
	return e.store.root.Close()
}
