package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// executor keeps the state of the leases. A goroutine that changes it, or creates or deletes pods, has the turn.
type executor struct {
	options
	x       sdk.Execution
	cluster *cluster
	tell    func(...sdk.LeaseEvent)
	now     func() time.Time

	turn    chan struct{}
	adopted bool
	leases  map[string]*lease
	swept   time.Time
	pods    pods
	copies  copies
	packed  packed

	ctx       context.Context // until Close
	end       context.CancelFunc
	following sync.WaitGroup
	wake      chan struct{} // has follow look again
}

// lease is what is known of a lease.
type lease struct {
	name    string
	request *sdk.LeaseRequest // nil: adopted
	// uids are the pods; "": not created.
	uids    []types.UID
	created time.Time // when the last of the pods was created
	partly  time.Time // since when some pods have a node and others not
	bound   time.Time // since when all of them have one, as far as seen
	silent  time.Time // since when a node has not answered for its pod
	tries   int       // how often all pods were given up
	again   time.Time // when they are created again
	quota   string    // why they could not be created; "": they were
	told    sdk.LeaseEvent
	had     bool // it was granted before it was adopted: it does not wait again
	ending  bool // it was told
	ctx     context.Context
	end     context.CancelFunc
}

func newExecutor(x sdk.Execution, o options, c *cluster, tell func(...sdk.LeaseEvent)) *executor {
	e := &executor{options: o, x: x, cluster: c, tell: tell, now: time.Now, turn: make(chan struct{}, 1),
		leases: map[string]*lease{}, wake: make(chan struct{}, 1)}
	e.pods.known = map[types.UID]known{}
	e.copies.done = map[types.UID]*copied{}
	e.ctx, e.end = context.WithCancel(context.Background())
	return e
}

func (e *executor) begin() {
	e.following.Go(e.watch)
	e.following.Go(e.follow)
	if e.x.Agent != nil && e.Program == "" && e.Cache == "" { // pods will want it
		e.following.Go(func() { _, _ = e.packed.open(e.x.Agent.Path) }) // it is tried again
	}
}

// take waits for the turn; the caller calls pass afterwards.
func (e *executor) take(ctx context.Context) error {
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *executor) pass() { <-e.turn }

// soon has follow look at once.
func (e *executor) soon() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *executor) newLease(name string, r *sdk.LeaseRequest, pods int) *lease {
	l := &lease{name: name, request: r, uids: make([]types.UID, pods)}
	l.ctx, l.end = context.WithCancel(e.ctx)
	return l
}

// Allocate implements sdk.Executor.
func (e *executor) Allocate(ctx context.Context, requests []sdk.LeaseRequest) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	defer e.soon()
	for i := range requests {
		r := &requests[i]
		l := e.leases[r.Lease]
		if l == nil {
			l = e.newLease(r.Lease, r, len(groups(r)))
		} else if l.request == nil || !slices.Contains(l.uids, "") {
			continue // its pods exist
		}
		e.leases[r.Lease] = l
		if err := e.create(ctx, l); err != nil {
			return fmt.Errorf("the pods of %s could not be created: %s", l.name, words(err))
		}
	}
	return nil
}

// create creates the Secret and the pods of a lease that do not exist yet. An error is one of those that pass.
func (e *executor) create(ctx context.Context, l *lease) error {
	err := e.createAll(ctx, l)
	switch {
	case err == nil:
		l.quota, l.created = "", e.now()
		return nil
	case err == errDeleting:
		l.again = e.now().Add(soonAgain)
		time.AfterFunc(soonAgain, e.soon)
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: kubernetes("", words(err))})
		return nil
	case !permanent(err):
		return err
	}
	beyond, isQuota := beyondQuota(words(err), func(name string) resource.Quantity { return e.wanted(l.request, name) })
	if removed := e.remove(ctx, l); removed != nil {
		return removed
	}
	if isQuota && !beyond {
		e.later(l)
		l.quota = kubernetes("", words(err))
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: l.quota})
		return nil
	}
	why := words(err)
	if n := len(l.uids); beyond && n > 1 {
		why += fmt.Sprintf("; a trial needs %d pods at a time", n)
	}
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseRefused, Why: kubernetes("", why)})
	return nil
}

func (e *executor) createAll(ctx context.Context, l *lease) error {
	if e.x.Agent != nil {
		if err := e.cluster.createSecret(ctx, e.secret(l.request)); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	made := make([]*corev1.Pod, len(l.uids))
	for i := range l.uids {
		p, err := e.createOne(ctx, l, i)
		if err != nil {
			return err
		}
		made[i], l.uids[i] = p, p.UID
	}
	if e.x.Agent == nil {
		return nil
	}
	patch, err := owners(made)
	if err != nil {
		return err
	}
	err = e.cluster.own(ctx, l.name, patch)
	if apierrors.IsNotFound(err) { // its pods have ended already
		return nil
	}
	return err
}

// errDeleting is for a pod whose predecessor with the same name is not gone yet.
var errDeleting = apierrors.NewTooManyRequests("an earlier pod of this name is still being deleted", 1)

// soonAgain is when pods whose predecessors are being deleted are tried again.
const soonAgain = 300 * time.Millisecond

// createOne creates a pod, or finds it.
func (e *executor) createOne(ctx context.Context, l *lease, i int) (*corev1.Pod, error) {
	p, err := e.pod(l.request, i)
	if err != nil {
		return nil, invalid{err}
	}
	made, err := e.cluster.createPod(ctx, p)
	if !apierrors.IsAlreadyExists(err) {
		return made, err
	}
	there, err := e.cluster.pod(ctx, p.Name)
	switch {
	case apierrors.IsNotFound(err): // it has just gone
		return nil, errDeleting
	case err != nil:
		return nil, err
	case there.Labels[leaseLabel] != l.name || there.Labels[experiment] != labelOf(e.x.Prefix):
		return nil, invalid{fmt.Errorf("a pod with the name %s exists that is none of this experiment", p.Name)}
	case there.DeletionTimestamp != nil:
		return nil, errDeleting
	}
	return there, nil
}

// invalid is an error of the request itself.
type invalid struct{ error }

// permanent reports whether the API server, or this executor, will say the same of a request each time.
func permanent(err error) bool {
	if _, ok := err.(invalid); ok {
		return true
	}
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsNotFound(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err)
}

// Adopt implements sdk.Executor.
func (e *executor) Adopt(ctx context.Context, leases []string) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	list, err := e.cluster.pods(ctx, selector(e.x.Prefix))
	if err != nil {
		return fmt.Errorf("the pods could not be listed: %s", words(err))
	}
	found := map[string][]corev1.Pod{}
	for _, p := range list {
		found[p.Labels[leaseLabel]] = append(found[p.Labels[leaseLabel]], p)
	}
	for _, l := range e.leases {
		l.end()
	}
	e.copies.clear()
	before := e.leases
	e.leases = map[string]*lease{}
	for _, name := range leases {
		if l := e.adopt(name, found[name], before[name]); l != nil {
			e.leases[name] = l
		} else {
			e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost,
				Why: "Kubernetes has no pods for this lease that all run or wait"})
		}
	}
	e.adopted = true
	e.soon()
	return e.removeOthers(ctx, list)
}

// adopt returns the lease of the pods, if they are all there.
func (e *executor) adopt(name string, list []corev1.Pod, before *lease) *lease {
	if before != nil && before.request != nil && slices.Contains(before.uids, "") {
		l := e.newLease(name, before.request, len(before.uids)) // it waits until its pods can be created
		l.uids, l.tries, l.again, l.quota = before.uids, before.tries, before.again, before.quota
		return l
	}
	if len(list) == 0 {
		return nil
	}
	n, _ := strconv.Atoi(list[0].Annotations[podsNote])
	if n != len(list) {
		return nil
	}
	l := e.newLease(name, nil, n)
	if before != nil {
		l.request, l.had = before.request, before.had || before.told.Kind == sdk.LeaseGranted
	}
	l.created = e.now()
	for i := range list {
		p := &list[i]
		i, err := strconv.Atoi(p.Labels[podLabel])
		if err != nil || i < 0 || i >= n || p.DeletionTimestamp != nil || l.uids[i] != "" {
			return nil
		}
		l.uids[i] = p.UID
		e.pods.put(p, false)
	}
	return l
}

// removeOthers deletes the pods and Secrets of the experiment that belong to no lease.
func (e *executor) removeOthers(ctx context.Context, list []corev1.Pod) error {
	for _, p := range list {
		if e.leases[p.Labels[leaseLabel]] != nil {
			continue
		}
		if err := e.cluster.remove(ctx, "pods", p.Name, p.UID, graceOf(&p)); err != nil {
			return fmt.Errorf("the pod %s could not be deleted: %s", p.Name, words(err))
		}
	}
	if e.x.Agent == nil {
		return nil
	}
	secrets, err := e.cluster.secrets(ctx, selector(e.x.Prefix))
	if err != nil {
		return fmt.Errorf("the Secrets could not be listed: %s", words(err))
	}
	for _, s := range secrets {
		if e.leases[s.Name] == nil {
			if err := e.cluster.remove(ctx, "secrets", s.Name, s.UID, 0); err != nil {
				return fmt.Errorf("the Secret %s could not be deleted: %s", s.Name, words(err))
			}
		}
	}
	return nil
}

// soonest is the grace period of pods that nobody needs any longer. With 0, the API server would forget them before
// they have ended.
const soonest = 1

// graceOf is the grace period with which a pod is deleted: one in which nothing runs needs none.
func graceOf(p *corev1.Pod) int64 {
	if p.Spec.NodeName == "" || p.Status.StartTime == nil {
		return 0
	}
	return soonest
}

// Release implements sdk.Executor.
func (e *executor) Release(ctx context.Context, leases []string) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	for _, name := range leases {
		if !strings.HasPrefix(name, e.x.Prefix) {
			continue
		}
		l := e.leases[name]
		if l == nil {
			continue // Adopt has removed what is of no lease
		}
		if err := e.remove(ctx, l); err != nil {
			return fmt.Errorf("the pods of %s could not be deleted: %s", name, words(err))
		}
		e.forget(l)
	}
	return nil
}

// remove deletes the pods and the Secret of a lease.
func (e *executor) remove(ctx context.Context, l *lease) error {
	for i, uid := range l.uids {
		if uid == "" && l.request == nil {
			continue
		}
		grace := int64(soonest)
		if k, ok := e.pods.get(uid); ok {
			grace = graceOf(k.pod)
		}
		if err := e.cluster.remove(ctx, "pods", podName(l.name, i), uid, grace); err != nil {
			return err
		}
		e.copies.forget(uid)
		l.uids[i] = ""
	}
	if e.x.Agent == nil {
		return nil
	}
	return e.cluster.remove(ctx, "secrets", l.name, "", 0)
}

// forget is for a lease that has ended.
func (e *executor) forget(l *lease) {
	l.end()
	delete(e.leases, l.name)
}

// report tells what is new of a lease.
func (e *executor) report(l *lease, event sdk.LeaseEvent) {
	event.Lease, event.Why = l.name, oneLine(event.Why)
	again := l.told.Kind == sdk.LeasePending && event.Why == l.told.Why
	if event.Kind == sdk.LeasePending && (l.had || again) {
		return
	}
	l.told = event
	e.tell(event)
	if event.Kind == sdk.LeaseLost || event.Kind == sdk.LeaseRefused {
		e.forget(l)
	}
}

// say writes to the experiment's log.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// warn warns the user.
func warn(text string) { serve.Logger().Warn(text) }

// Close implements io.Closer. Nothing deletes pods after it: they may be those of the next executor.
func (e *executor) Close() error {
	e.end()
	e.following.Wait()
	e.packed.close()
	return nil
}
