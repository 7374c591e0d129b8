package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// pods are the pods as the API server has last told them.
type pods struct {
	mu    sync.Mutex
	known map[types.UID]known
}

// known is a pod, and whether it exists no longer.
type known struct {
	pod  *corev1.Pod
	gone bool
}

func (p *pods) put(pod *corev1.Pod, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[pod.UID].gone {
		return
	}
	p.known[pod.UID] = known{pod, gone}
}

func (p *pods) get(uid types.UID) (known, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.known[uid]
	return k, ok
}

// keep forgets the pods that are gone, but for those.
func (p *pods) keep(uids map[types.UID]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.known, func(uid types.UID, k known) bool { return k.gone && !uids[uid] })
}

// watch notes what the API server tells of the pods, until Close.
func (e *executor) watch() {
	note := func(object any, gone bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		if p, ok := object.(*corev1.Pod); ok {
			e.pods.put(p, gone)
			e.soon()
		}
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: e.cluster.watch(selector(e.x.Prefix)), ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { note(o, false) },
			UpdateFunc: func(_, o any) { note(o, false) },
			DeleteFunc: func(o any) { note(o, true) },
		}})
	controller.RunWithContext(e.ctx)
}

// seldom is the time between two looks at which nothing has happened.
const seldom = 2 * time.Second

// follow looks at the leases until Close.
func (e *executor) follow() {
	timer := time.NewTimer(seldom)
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-e.wake:
		case <-timer.C:
		}
		if e.take(e.ctx) != nil {
			return
		}
		e.look()
		e.pass()
		timer.Reset(seldom)
	}
}

// look does for each lease what is to be done.
func (e *executor) look() {
	if !e.adopted {
		return
	}
	for _, l := range e.sorted() {
		e.lookAt(l)
	}
	if now := e.now(); now.Sub(e.swept) > sweepEvery {
		e.swept = now
		e.sweep()
	}
}

// sorted are the leases in the order in which they were requested.
func (e *executor) sorted() []*lease {
	return slices.SortedFunc(maps.Values(e.leases), func(a, b *lease) int {
		if len(a.name) != len(b.name) {
			return len(a.name) - len(b.name)
		}
		return strings.Compare(a.name, b.name)
	})
}

func (e *executor) lookAt(l *lease) {
	if slices.Contains(l.uids, "") {
		e.retry(l)
		return
	}
	states := make([]state, len(l.uids))
	for i, uid := range l.uids {
		states[i] = e.stateOf(l, i, uid)
	}
	first := func(s stage) int {
		return slices.IndexFunc(states, func(one state) bool { return one.stage == s })
	}
	switch {
	case first(never) >= 0 && l.told.Kind != sdk.LeaseGranted && !l.ending:
		e.over(l, sdk.LeaseRefused, states[first(never)].why)
	case first(over) >= 0:
		e.over(l, sdk.LeaseLost, states[first(over)].why)
	case first(never) >= 0:
		e.over(l, sdk.LeaseLost, states[first(never)].why)
	case first(ending) >= 0:
		e.ends(l, states[first(ending)])
	case l.told.Kind == sdk.LeaseGranted || l.ending:
		e.untilEnd(l, states)
	case first(waiting) >= 0:
		e.waits(l, states[first(waiting)].why, first(bound) >= 0 || first(running) >= 0)
	case first(bound) >= 0:
		l.partly = time.Time{}
		e.starts(l, states[first(bound)].why)
	default:
		e.runs(l, states)
	}
}

// unseen is how long a pod may exist before the API server tells of it.
const unseen = 10 * time.Second

// stateOf is the state of a pod of a lease.
func (e *executor) stateOf(l *lease, number int, uid types.UID) state {
	k, ok := e.pods.get(uid)
	switch {
	case ok && k.gone:
		s := stateOf(k.pod)
		if s.stage != over && s.stage != never {
			s = state{stage: over, why: goneWhy(k.pod)}
		}
		return s
	case ok:
		return stateOf(k.pod)
	case e.now().Sub(l.created) < unseen:
		return state{stage: waiting, why: kubernetes("the pod was created", "")}
	}
	p, err := e.cluster.pod(e.ctx, podName(l.name, number))
	if apierrors.IsNotFound(err) || err == nil && p.UID != uid {
		return state{stage: over, why: deleted(podName(l.name, number))}
	}
	if err == nil {
		e.pods.put(p, false)
	}
	return state{stage: waiting, why: kubernetes("the API server does not tell of the pod", "")}
}

// over is for a lease of which a pod has ended. The others are of no use.
func (e *executor) over(l *lease, kind sdk.LeaseEventKind, why string) {
	if err := e.remove(e.ctx, l); err != nil {
		say("the pods of %s could not be deleted: %s; it is tried again", l.name, words(err))
	}
	e.report(l, sdk.LeaseEvent{Kind: kind, Why: why})
}

// ends is for a lease of which a pod is being deleted.
func (e *executor) ends(l *lease, s state) {
	switch {
	case l.told.Kind != sdk.LeaseGranted && !l.ending:
		e.over(l, sdk.LeaseLost, s.why)
	case !l.ending:
		l.ending = true
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseEnding, Until: s.until, Why: s.why})
	}
}

// untilEnd tells that the time of a pod ends soon.
func (e *executor) untilEnd(l *lease, states []state) {
	end := earliest(states)
	if l.ending || end.IsZero() || e.now().Before(end.Add(-e.notice())) {
		return
	}
	l.ending = true
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseEnding, Until: end, Why: "the pod's time ends (" + e.lifeFrom() + ")"})
}

// lifeFrom is what limits the time of pods.
func (o *options) lifeFrom() string {
	switch {
	case o.Time > 0:
		return "the option time"
	case o.template.Spec.ActiveDeadlineSeconds != nil:
		return "activeDeadlineSeconds of the template"
	}
	return "activeDeadlineSeconds"
}

func earliest(states []state) (end time.Time) {
	for _, s := range states {
		if !s.until.IsZero() && (end.IsZero() || s.until.Before(end)) {
			end = s.until
		}
	}
	return end
}

// waits is for a lease of which a pod has no node. If others have one, they are given up after a time, so that
// leases that wait for each other continue.
func (e *executor) waits(l *lease, why string, partly bool) {
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: why})
	l.bound = time.Time{}
	switch now := e.now(); {
	case !partly:
		l.partly = time.Time{}
	case l.partly.IsZero():
		l.partly = now
		time.AfterFunc(e.within(), e.soon)
	case now.Sub(l.partly) >= e.within() && l.request != nil:
		e.giveUp(l, "only some of its pods got a node within "+e.within().String()+"; they are created again later")
	case now.Sub(l.partly) >= e.within():
		e.over(l, sdk.LeaseLost, why+"; only some of its pods have a node")
	}
}

// silence is how long a node may take to answer for a pod; a working one does within a second.
const silence = 15 * time.Second

// longStart is how long a pod that has a node may take to run until the user is told where to look: what a volume
// lacks is not in the pod, and its events need a right of their own.
const longStart = 30 * time.Second

// starts is for a lease all of whose pods have a node, and not all run. The scheduler gives pods to nodes that have
// died until the cluster notices that: such pods are created again.
func (e *executor) starts(l *lease, why string) {
	if l.bound.IsZero() {
		l.bound = e.now()
	}
	if e.now().Sub(l.bound) > longStart {
		why += "; `kubectl get events -n " + e.cluster.namespace + "` may say more"
	}
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: why})
	node := ""
	for _, uid := range l.uids {
		if k, ok := e.pods.get(uid); ok && k.pod.Spec.NodeName != "" && k.pod.Status.StartTime == nil {
			node = k.pod.Spec.NodeName
		}
	}
	switch {
	case node == "":
		l.silent = time.Time{}
	case l.silent.IsZero():
		l.silent = e.now()
	case e.now().Sub(l.silent) < silence:
	case l.request == nil: // adopted
		e.over(l, sdk.LeaseLost, kubernetes("the node "+node+" does not answer", ""))
	default:
		l.silent = time.Time{}
		e.giveUp(l, "the node "+node+" does not answer; its pods are created again")
		l.again = e.now().Add(soonAgain)
	}
}

// giveUp deletes all pods of a lease, which are created again later.
func (e *executor) giveUp(l *lease, why string) {
	if err := e.remove(e.ctx, l); err != nil {
		say("the pods of %s could not be deleted: %s; it is tried again", l.name, words(err))
		return
	}
	l.partly, l.bound = time.Time{}, time.Time{}
	e.later(l)
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: kubernetes(why, "")})
}

// mostTries bounds the exponent of the pause.
const mostTries = 5

// later has the pods of a lease created again after a random pause, which grows with each try.
func (e *executor) later(l *lease) {
	l.tries = min(l.tries+1, mostTries)
	pause := time.Second + time.Duration(rand.Float64()*float64(e.within())*float64(int(1)<<l.tries)/2)
	l.again = e.now().Add(pause)
	time.AfterFunc(pause, e.soon)
}

// retry creates the pods of a lease that were given up.
func (e *executor) retry(l *lease) {
	if l.request == nil || e.now().Before(l.again) {
		return
	}
	if err := e.create(e.ctx, l); err != nil && e.ctx.Err() == nil {
		l.again = e.now().Add(time.Second)
		time.AfterFunc(time.Second, e.soon)
		say("the pods of %s could not be created: %s; it is tried again", l.name, words(err))
	}
}

// runs is for a lease all of whose containers run.
func (e *executor) runs(l *lease, states []state) {
	l.partly = time.Time{}
	var bundles []sdk.GrantedBundle
	all := true
	for _, uid := range l.uids {
		k, _ := e.pods.get(uid)
		c := e.copies.of(uid)
		if c == nil {
			e.copies.begin(e, l.ctx, k.pod)
			e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: e.preparing()})
		} else if why := c.trouble(); why != "" {
			e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: why})
		}
		if c == nil || !c.ready() {
			all = false
			continue
		}
		bundles = append(bundles, grantedIn(k.pod, c.devices, bundles)...)
	}
	if all {
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseGranted, Bundles: bundles, Until: earliest(states)})
	}
}

// preparing is what a lease waits for whose pods run.
func (e *executor) preparing() string {
	if e.x.Agent == nil || e.Program != "" {
		return "the pod runs"
	}
	return "the pod runs; the tunehost program is being copied into it"
}

// grantedIn are the bundles of a pod. A pod has devices and a network of its own: for the processes in it, another pod
// on the same node is another node, and gets another name.
func grantedIn(p *corev1.Pod, devices []string, before []sdk.GrantedBundle) (list []sdk.GrantedBundle) {
	node := p.Spec.NodeName
	if slices.ContainsFunc(before, func(b sdk.GrantedBundle) bool { return b.Node == node }) {
		node += "/" + p.Name
	}
	for _, n := range gpusOf(p) {
		own := devices[:min(n, len(devices))]
		devices = devices[len(own):]
		list = append(list, sdk.GrantedBundle{Node: node, Address: p.Status.PodIP, Devices: own})
	}
	return list
}

// Pods whose node is gone stay until it comes back: after stuckAfter they are removed from the API server.
const (
	sweepEvery = 30 * time.Second
	stuckAfter = time.Minute
)

// sweep removes pods that are of no lease.
func (e *executor) sweep() {
	uids := map[types.UID]bool{}
	for _, l := range e.leases {
		for _, uid := range l.uids {
			uids[uid] = true
		}
	}
	e.pods.keep(uids)
	for _, p := range e.pods.all() {
		switch l := e.leases[p.Labels[leaseLabel]]; {
		case p.DeletionTimestamp != nil && e.now().Sub(p.DeletionTimestamp.Time) > stuckAfter:
			_ = e.cluster.remove(e.ctx, "pods", p.Name, p.UID, 0) // tried again
		case p.DeletionTimestamp == nil && l == nil:
			_ = e.cluster.remove(e.ctx, "pods", p.Name, p.UID, graceOf(p))
		}
	}
}

// all are the pods that exist.
func (p *pods) all() (list []*corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.known {
		if !k.gone {
			list = append(list, k.pod)
		}
	}
	return list
}

// gpusOf is the number of GPUs of each bundle in a pod.
func gpusOf(p *corev1.Pod) (list []int) {
	for text := range strings.SplitSeq(p.Annotations[gpusNote], ",") {
		n, _ := strconv.Atoi(text)
		list = append(list, max(0, n))
	}
	return list
}
