package conformance

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var executorVerbs = map[string]verb{
	"grant": plain(grants), "grant-devices": take(grantsDevices), "grant-gang": take(grantsGang),
	"allocate-twice": plain(allocatesTwice), "refuse-lease": take(refusesLease), "release": plain(releases),
	"release-unknown": plain(releasesUnknown), "adopt-after-restart": plain(adoptsAfterRestart),
	"adopt-unknown": plain(adoptsUnknown), "adopt-releases": plain(adoptReleases),
	"fill-cluster": take(waitsForRoom), "adopt-own": plain(adoptsOwn), "capacity": plain(capacity),
}

const checkPrefix = "check-a-"

func (s *subject) openExecutor(p plugin.Plugin, options []byte) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	x, err := s.execution(dir, checkPrefix)
	if err != nil {
		return err
	}
	_, err = p.OpenExecutor(s.ctx, x, options)
	return err
}

// execution returns an experiment in a directory, with the agent of the checks.
func (s *subject) execution(dir, prefix string) (sdk.Execution, error) {
	a, err := s.checkAgents()
	if err != nil {
		return sdk.Execution{}, err
	}
	text, err := os.ReadFile(a.program)
	return sdk.Execution{Experiment: "check", Dir: dir, Prefix: prefix,
		Agent: &sdk.Agent{Path: a.program, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}}, err
}

// A executorHost simulates the host for an executor: it requests leases and records the events.
type executorHost struct {
	*subject
	executor plugin.Executor
	prefix   string
	news     chan sdk.LeaseEvent
	last     map[string]sdk.LeaseEvent
	failed   error // of Recv
}

// An ability is what a check needs of an executor.
type ability = need[sdk.ExecutorTraits]

var (
	ganging = ability{func(t sdk.ExecutorTraits) bool { return t.Gangs },
		"it does not grant several bundles at once"}
	counting = ability{func(t sdk.ExecutorTraits) bool { return t.Capacity },
		"it does not say what its cluster has"}
	agency = ability{func(t sdk.ExecutorTraits) bool { return t.Agents },
		"it starts no agents"}
)

// executorHostAt opens the executor in the directory, for the experiment with the prefix, if it has the abilities as
// far as they are known.
func (s *subject) executorHostAt(dir, prefix string, needs ...ability) (*executorHost, error) {
	if err := needed(s, s.opening(), needs); err != nil {
		return nil, err
	}
	p, err := s.plugin()
	if err != nil {
		return nil, err
	}
	x, err := s.execution(dir, prefix)
	if err != nil {
		return nil, err
	}
	e, err := p.OpenExecutor(s.ctx, x, s.options())
	if err != nil {
		return nil, refusal(err, nil)
	}
	s.closes = append(s.closes, e)
	d := &executorHost{subject: s, executor: e, prefix: prefix, news: make(chan sdk.LeaseEvent),
		last: map[string]sdk.LeaseEvent{}}
	go d.listen()
	return d, declares(s, s.opening(), e.Traits(), needs)
}

// newExecutorHost starts the executor in a new directory, for an experiment without leases.
func (s *subject) newExecutorHost(needs ...ability) (*executorHost, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	d, err := s.executorHostAt(dir, checkPrefix, needs...)
	if err != nil {
		return nil, err
	}
	return d, d.executor.Adopt(s.ctx, nil)
}

func (d *executorHost) listen() {
	defer close(d.news)
	for {
		events, err := d.executor.Recv()
		if err != nil {
			d.failed = err
			return
		}
		for _, e := range events {
			select {
			case d.news <- e:
			case <-d.ctx.Done():
				return
			}
		}
	}
}

// next returns the next event of any lease.
func (d *executorHost) next(waiting string) (sdk.LeaseEvent, error) {
	select {
	case e, ok := <-d.news:
		if !ok {
			return e, wanted(waiting, "the end of Watch: %v", d.failed)
		}
		return e, d.note(e)
	case <-d.ctx.Done():
		return sdk.LeaseEvent{}, wanted(waiting, "nothing until the deadline")
	}
}

// note records an event, if it is allowed.
func (d *executorHost) note(e sdk.LeaseEvent) error {
	before := d.last[e.Lease]
	over := before.Kind == sdk.LeaseLost || before.Kind == sdk.LeaseRefused
	said := fmt.Sprintf("%s of %q: %q", e.Kind, e.Lease, e.Why)
	switch {
	case !strings.HasPrefix(e.Lease, d.prefix):
		return wanted("events of the experiment's own leases", "%s", said)
	case over:
		return wanted("nothing of a lease that was "+before.Kind.String(), "%s", said)
	case e.Kind == sdk.LeasePending && before.Kind > sdk.LeasePending:
		return wanted("a lease that was "+before.Kind.String()+" not to wait again", "%s", said)
	case strings.ContainsAny(e.Why, "\r\n"):
		return wanted("a reason of one line", "%s", said)
	case e.Why == "" && e.Kind != sdk.LeaseGranted && e.Kind != sdk.LeaseEnding:
		return wanted("a reason", "%s", said)
	case e.Kind == sdk.LeaseEnding && e.Until.IsZero():
		return wanted("the time at which it ends", "%s", said)
	}
	d.last[e.Lease] = e
	return nil
}

// settled waits until a lease is granted, refused or lost.
func (d *executorHost) settled(lease string) (sdk.LeaseEvent, error) {
	for {
		e, err := d.next("lease " + lease + " to be granted, refused or lost")
		if err != nil {
			return e, err
		}
		if e.Lease == lease && (e.Kind != sdk.LeasePending && e.Kind != sdk.LeaseEnding) {
			return e, nil
		}
	}
}

// granted waits until a lease is granted as requested; refused leases are not applicable.
func (d *executorHost) granted(r sdk.LeaseRequest) (sdk.LeaseEvent, error) {
	e, err := d.settled(r.Lease)
	switch {
	case err != nil:
		return e, err
	case e.Kind == sdk.LeaseRefused:
		return e, inapplicable("it refuses the lease: " + oneLine(e.Why))
	case e.Kind == sdk.LeaseLost:
		return e, wanted("the lease to be granted", "lost: %s", e.Why)
	case len(e.Bundles) != len(r.Bundles):
		return e, wanted(fmt.Sprintf("%d bundles", len(r.Bundles)), "%d", len(e.Bundles))
	}
	for i, b := range e.Bundles {
		if b.Node == "" {
			return e, wanted("the name of a node for each bundle", "none for bundle %d", i)
		}
	}
	return e, nil
}

// lease returns a request of equal bundles.
func (d *executorHost) lease(number, bundles int, amounts ...sdk.Amount) sdk.LeaseRequest {
	return sdk.LeaseRequest{Lease: fmt.Sprint(d.prefix, number), Strategy: "pack", Agent: d.agents.value,
		Bundles: slices.Repeat([]sdk.LeaseBundle{amounts}, bundles)}
}

// take requests leases and waits until all are granted.
func (d *executorHost) take(requests ...sdk.LeaseRequest) (granted []sdk.LeaseEvent, err error) {
	if err := d.executor.Allocate(d.ctx, requests); err != nil {
		return nil, err
	}
	for _, r := range requests {
		e, err := d.granted(r)
		if err != nil {
			return nil, err
		}
		granted = append(granted, e)
	}
	return granted, nil
}

// openWithLease starts the executor and gets one lease granted.
func (s *subject) openWithLease() (*executorHost, sdk.LeaseRequest, sdk.LeaseEvent, error) {
	d, err := s.newExecutorHost()
	if err != nil {
		return nil, sdk.LeaseRequest{}, sdk.LeaseEvent{}, err
	}
	r := d.lease(1, 1, sdk.Amount{Name: "cpu", Value: 1})
	granted, err := d.take(r)
	if err != nil {
		return nil, r, sdk.LeaseEvent{}, err
	}
	return d, r, granted[0], nil
}

func grants(s *subject) error {
	d, _, e, err := s.openWithLease()
	if err != nil {
		return err
	}
	return d.executor.Release(s.ctx, []string{e.Lease})
}

// devices is the number of GPUs that each of some leases requests.
type devices struct{ Each, Leases int }

func grantsDevices(s *subject, w devices) error {
	d, err := s.newExecutorHost()
	if err != nil {
		return err
	}
	used := map[string]string{}
	for i := range w.Leases {
		granted, err := d.take(d.lease(i+1, 1, sdk.Amount{Name: "gpu", Value: float64(w.Each)}))
		if err != nil {
			return err
		}
		b := granted[0].Bundles[0]
		if len(b.Devices) != w.Each {
			return wanted(fmt.Sprintf("%d devices", w.Each), "%q", b.Devices)
		}
		for _, device := range b.Devices {
			place := b.Node + " " + device
			if other, taken := used[place]; taken {
				return wanted("each GPU in one lease", "%s in %s and %s", place, other, granted[0].Lease)
			}
			used[place] = granted[0].Lease
		}
	}
	return nil
}

// gang is a lease of several bundles.
type gang struct {
	Bundles  int
	Strategy string
}

func grantsGang(s *subject, w gang) error {
	d, err := s.newExecutorHost(ganging)
	if err != nil {
		return err
	}
	r := d.lease(1, w.Bundles, sdk.Amount{Name: "cpu", Value: 1})
	r.Strategy = w.Strategy
	granted, err := d.take(r)
	if err != nil {
		return err
	}
	nodes := map[string]bool{}
	for _, b := range granted[0].Bundles {
		nodes[b.Node] = true
	}
	want := map[string]int{"strict_pack": 1, "strict_spread": w.Bundles}[w.Strategy]
	if want != 0 && len(nodes) != want {
		return wanted(fmt.Sprintf("%d nodes with %s", want, w.Strategy), "%d", len(nodes))
	}
	return nil
}

func allocatesTwice(s *subject) error {
	d, r, first, err := s.openWithLease()
	if err != nil {
		return err
	}
	before, err := d.settledFree()
	if err != nil {
		return err
	}
	if err := d.executor.Allocate(s.ctx, []sdk.LeaseRequest{r}); err != nil {
		return err
	}
	after, err := d.settledFree()
	if err != nil {
		return err
	}
	if before != after {
		return wanted("the same lease: "+before+" free", "%s", after)
	}
	return d.checkUnchanged(first)
}

// checkUnchanged checks that a lease is granted unchanged, by adopting it.
func (d *executorHost) checkUnchanged(first sdk.LeaseEvent) error {
	if err := d.executor.Adopt(d.ctx, []string{first.Lease}); err != nil {
		return err
	}
	e, err := d.settled(first.Lease)
	switch {
	case err != nil:
		return err
	case e.Kind != sdk.LeaseGranted || !slices.EqualFunc(e.Bundles, first.Bundles, sameBundle):
		return wanted(fmt.Sprintf("the lease as it was granted, %v", first.Bundles), "%s: %v", e.Kind,
			cmp.Or(e.Why, fmt.Sprint(e.Bundles)))
	}
	return nil
}

func sameBundle(a, b sdk.GrantedBundle) bool {
	return a.Node == b.Node && a.Address == b.Address && slices.Equal(a.Devices, b.Devices)
}

// How often in a row settledFree reads the same, and how long it waits in between.
const (
	readings     = 5
	readingEvery = 100 * time.Millisecond
)

// settledFree returns the free amounts when they do not change any more: an engine may count what it has just granted
// a moment later.
func (d *executorHost) settledFree() (text string, err error) {
	for same := 0; same < readings; same++ {
		now, err := d.free()
		if err != nil || now == "" {
			return now, err
		}
		if now != text {
			text, same = now, 0
		}
		select {
		case <-time.After(readingEvery):
		case <-d.ctx.Done():
			return text, d.ctx.Err()
		}
	}
	return text, nil
}

// free returns the free amounts of all nodes as text, or "" if unknown.
func (d *executorHost) free() (string, error) {
	if !d.executor.Traits().Capacity {
		return "", nil
	}
	nodes, err := d.executor.Capacity(d.ctx)
	var text string
	for _, n := range nodes {
		text += fmt.Sprint(n.Name, " ", n.Free, " ")
	}
	return text, err
}

func refusesLease(s *subject, w struct{ Amounts map[string]float64 }) error {
	d, err := s.newExecutorHost()
	if err != nil {
		return err
	}
	r := d.lease(1, 1)
	for name, value := range w.Amounts {
		r.Bundles[0] = append(r.Bundles[0], sdk.Amount{Name: name, Value: value})
	}
	if err := d.executor.Allocate(s.ctx, []sdk.LeaseRequest{r}); err != nil {
		return wanted("REFUSED or PENDING", "an error of Allocate: %v", err)
	}
	e, err := d.next("REFUSED, or PENDING with a reason")
	if err == nil && e.Kind != sdk.LeaseRefused && e.Kind != sdk.LeasePending {
		err = wanted("REFUSED, or PENDING with a reason", "%s", e.Kind)
	}
	return err
}

func releases(s *subject) error {
	d, r, _, err := s.openWithLease()
	if err != nil {
		return err
	}
	if err := d.executor.Release(s.ctx, []string{r.Lease}); err != nil {
		return err
	}
	return d.checkReleased(r.Lease)
}

// checkReleased checks that the executor does not have the lease, by adopting it.
func (d *executorHost) checkReleased(lease string) error {
	if err := d.executor.Adopt(d.ctx, []string{lease}); err != nil {
		return err
	}
	e, err := d.settled(lease)
	if err == nil && e.Kind != sdk.LeaseLost {
		err = wanted("LOST: the executor does not have it", "%s", e.Kind)
	}
	return err
}

func releasesUnknown(s *subject) error {
	d, r, _, err := s.openWithLease()
	if err != nil {
		return err
	}
	for range 2 {
		if err := d.executor.Release(s.ctx, []string{r.Lease, d.prefix + "99"}); err != nil {
			return wanted("leases that it does not have to be released already", "%v", err)
		}
	}
	return nil
}

// again starts another process for the same experiment, after the first has ended.
func (d *executorHost) again(dir string) (*executorHost, error) {
	if err := d.executor.Close(); err != nil {
		return nil, err
	}
	return d.executorHostAt(dir, d.prefix)
}

// takeIn starts the executor in a directory and takes one lease.
func (s *subject) takeIn(dir, prefix string) (*executorHost, sdk.LeaseEvent, error) {
	d, err := s.executorHostAt(dir, prefix)
	if err != nil {
		return nil, sdk.LeaseEvent{}, err
	}
	granted := []sdk.LeaseEvent{{}}
	if err = d.executor.Adopt(s.ctx, nil); err == nil {
		granted, err = d.take(d.lease(1, 1, sdk.Amount{Name: "cpu", Value: 1}))
	}
	return d, append(granted, sdk.LeaseEvent{})[0], err
}

// restarted takes a lease, and starts another process for the same experiment.
func (s *subject) restarted() (d *executorHost, first sdk.LeaseEvent, err error) {
	dir, err := s.dir()
	if err != nil {
		return nil, first, err
	}
	if d, first, err = s.takeIn(dir, checkPrefix); err != nil {
		return nil, first, err
	}
	d, err = d.again(dir)
	return d, first, err
}

func adoptsAfterRestart(s *subject) error {
	d, first, err := s.restarted()
	if err != nil {
		return err
	}
	return d.checkUnchanged(first)
}

func adoptsUnknown(s *subject) error {
	d, err := s.newExecutorHost()
	if err != nil {
		return err
	}
	if err := d.checkReleased(d.prefix + "7"); err != nil {
		return err
	}
	// Events of the unknown lease come before this one is granted.
	_, err = d.take(d.lease(8, 1))
	return err
}

func adoptReleases(s *subject) error {
	d, first, err := s.restarted()
	if err != nil {
		return err
	}
	if err := d.executor.Adopt(s.ctx, nil); err != nil {
		return err
	}
	return d.checkReleased(first.Lease)
}

func adoptsOwn(s *subject) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	other, first, err := s.takeIn(dir, "check-b-")
	if err != nil {
		return err
	}
	d, err := s.executorHostAt(dir, checkPrefix)
	if err == nil {
		err = errors.Join(d.executor.Adopt(s.ctx, nil), d.executor.Release(s.ctx, nil))
	}
	if err != nil {
		return err
	}
	return other.checkUnchanged(first)
}

// newCluster is newExecutorHost with the nodes of the cluster.
func (s *subject) newCluster() (*executorHost, []sdk.ClusterNode, error) {
	d, err := s.newExecutorHost(counting)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := d.executor.Capacity(s.ctx)
	return d, nodes, err
}

func capacity(s *subject) error {
	_, nodes, err := s.newCluster()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, n := range nodes {
		if n.Name == "" || seen[n.Name] {
			return wanted("a name of its own for each node", "%q", n.Name)
		}
		seen[n.Name] = true
		for _, free := range n.Free {
			if total := sdk.LeaseBundle(n.Total).Get(free.Name); free.Value < 0 || free.Value > total {
				return wanted("at most as much free as there is", "%v %s of %v on %s", free.Value, free.Name, total,
					n.Name)
			}
		}
	}
	return nil
}
