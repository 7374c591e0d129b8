package slurm

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the executor.
var Plugin = sdk.ExecutorPlugin{
	Info: sdk.Info{
		Kind: sdk.KindExecutor, Name: "slurm", Version: "1.0.0",
		Summary: "Trials run on a Slurm cluster: each lease is a job, or a step of the allocation in which " +
			"tunehost runs.",
		Options: declared.Schema(),
	},
	Open: open,
}

func open(x sdk.Execution, text []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
	o, err := read(text)
	if err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	if err := o.openConnection(&x); err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	traits := sdk.ExecutorTraits{Gangs: true, Agents: x.Agent != nil}
	if o.inside() {
		e, err := newSteps(x, o, tell)
		if err != nil {
			return nil, sdk.ExecutorTraits{}, err
		}
		e.following.Go(e.follow)
		return e, traits, nil
	}
	return begin(newExecutor(x, o, tell)), traits, nil
}

func begin(e *executor) *executor {
	e.following.Go(e.follow)
	return e
}

// executor keeps the state of the leases. A goroutine that changes it, or calls Slurm about jobs,
// must have the turn.
type executor struct {
	options
	x     sdk.Execution
	slurm *slurm
	tell  func(...sdk.LeaseEvent)
	now   func() time.Time

	turn    chan struct{}
	adopted bool
	leases  map[string]*lease
	strays  map[string]bool // jobs of no lease that the last listing had
	// single: leases are submitted one by one, because Slurm takes no arrays.
	single bool
	// suspect is the time until which jobs may appear whose submissions got no answer.
	suspect time.Time
	nodes   nodes
	bridges *bridges
	pace    pace
	trouble trouble
	// accounting is what is known of Slurm's accounting.
	accounting accounting

	ctx context.Context // until Close
	end context.CancelFunc
	// following is for follow, which may cancel jobs.
	following sync.WaitGroup
	// wake makes follow look again.
	wake chan struct{}
}

// lease has the known facts about a lease.
type lease struct {
	name    string
	shape   shape
	request *sdk.LeaseRequest // nil: adopted
	job     string            // the leader; "": not submitted, or not known
	doubt   bool              // it may have been submitted
	single  bool              // it has been in an array: it is submitted alone if it is again
	missing int               // listings in a row without its job
	told    sdk.LeaseEvent    // the last event
	ending  bool              // it was told
	until   time.Time         // its end, as the last listing had it
	waited  time.Time         // when a listing last had it wait
	// completes is since when Slurm ends it, and has not said why.
	completes time.Time
	since     time.Time     // since when it was seen to run; zero if an earlier host had it
	nodes     []string      // where it is granted
	parts     []bundlePlace // the job of each bundle
}

func newExecutor(x sdk.Execution, o options, tell func(...sdk.LeaseEvent)) *executor {
	e := &executor{options: o, x: x, slurm: newSlurm(o.timeout()), tell: tell, now: time.Now,
		turn: make(chan struct{}, 1), leases: map[string]*lease{}, strays: map[string]bool{},
		wake: make(chan struct{}, 1)}
	e.nodes.slurm, e.accounting.every = e.slurm, aftermathEvery
	e.bridges = newBridges(&x, &o, e.slurm.environ)
	e.bridges.unsent = e.unsent
	e.ctx, e.end = context.WithCancel(context.Background())
	return e
}

// take waits for the turn. The caller must call pass afterwards.
func (e *executor) take(ctx context.Context) error {
	select {
	case e.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *executor) pass() { <-e.turn }

// soon makes follow look at once.
func (e *executor) soon() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Adopt implements sdk.Executor.
func (e *executor) Adopt(ctx context.Context, leases []string) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	list, err := e.slurm.list(ctx, e.x.Prefix)
	if err != nil {
		return err
	}
	counted := map[string]bool{}
	for _, name := range leases {
		counted[name] = true
	}
	if err := e.cancelOthers(ctx, list, counted); err != nil {
		return err
	}
	e.leases, e.adopted = e.adoptedLeases(leases, list), true
	e.bridges.retain(leases)
	if len(leases) > 0 { // the process before this one may have been submitting
		e.suspect = e.now().Add(suspicious)
	}
	e.pace.begin()
	e.update(ctx, list)
	e.soon()
	return nil
}

// cancelOthers cancels the jobs of leases that do not count.
func (e *executor) cancelOthers(ctx context.Context, list map[string][]job, counted map[string]bool) error {
	var ids []string
	for name, jobs := range list {
		for _, j := range jobs {
			if !counted[name] && j.held() && j.offset == 0 {
				ids = append(ids, j.leader)
			}
		}
	}
	return e.cancel(ctx, ids)
}

func (e *executor) adoptedLeases(names []string, list map[string][]job) map[string]*lease {
	leases := map[string]*lease{}
	for _, name := range names {
		l := &lease{name: name, job: chosen(list[name])}
		if old := e.leases[name]; old != nil {
			l.request, l.doubt, l.shape, l.single = old.request, old.doubt && l.job == "", old.shape, old.single
		}
		for _, j := range list[name] {
			if s, ok := fromComment(j.note); ok && j.leader == l.job {
				l.shape = s
			}
		}
		leases[name] = l
	}
	return leases
}

// chosen returns the job of a lease: the first one that holds resources, or else the last one.
func chosen(jobs []job) (leader string) {
	first := ""
	for _, j := range jobs {
		if j.held() && (first == "" || less(j.leader, first)) {
			first = j.leader
		}
		if less(leader, j.leader) {
			leader = j.leader
		}
	}
	if first != "" {
		return first
	}
	return leader
}

// less compares two jobs by their numbers, tasks by those of their arrays.
func less(a, b string) bool {
	a, _, _ = strings.Cut(a, taskMark)
	b, _, _ = strings.Cut(b, taskMark)
	return len(a) < len(b) || len(a) == len(b) && a < b
}

// Release implements sdk.Executor.
func (e *executor) Release(ctx context.Context, leases []string) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	e.bridges.shut(leases) // first: they would open others when the agents end
	if err := e.settle(ctx, leases); err != nil {
		return err
	}
	ended := e.endedBefore(ctx, leases)
	var ids []string
	for _, name := range leases {
		if l := e.leases[name]; l != nil && l.job != "" {
			ids = append(ids, l.job)
		}
	}
	if err := e.cancel(ctx, ids); err != nil {
		return err
	}
	for _, name := range leases {
		if strings.HasPrefix(name, e.x.Prefix) {
			e.bridges.close(name)
			delete(e.leases, name)
			e.removeLog(name)
		}
	}
	for _, j := range ended {
		e.following.Go(func() { e.explain(j.leaseName(e.x.Prefix), j) })
	}
	return nil
}

// settle finds the jobs of leases that may have been submitted.
func (e *executor) settle(ctx context.Context, leases []string) error {
	doubt := false
	for _, name := range leases {
		l := e.leases[name]
		doubt = doubt || l != nil && l.doubt
	}
	if !doubt {
		return nil
	}
	list, err := e.slurm.list(ctx, e.x.Prefix)
	if err != nil {
		return err
	}
	for _, name := range leases {
		if l := e.leases[name]; l != nil && l.doubt {
			l.found(chosen(list[name]))
		}
	}
	return nil
}

// found records the job of a lease that was in doubt, or that it has none.
func (l *lease) found(job string) {
	l.doubt = false
	if l.job == "" {
		l.job = job
	}
}

// cancel cancels jobs. For jobs that are over, scancel reports no error.
func (e *executor) cancel(ctx context.Context, ids []string) error {
	const most = 200
	for len(ids) > 0 {
		n := min(len(ids), most)
		if _, err := e.slurm.run(ctx, "", "scancel", ids[:n]...); err != nil && !alreadyOver(err) {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// alreadyOver reports whether scancel failed only because jobs are over.
func alreadyOver(err error) bool {
	f, ok := err.(*failure)
	if !ok || f.words == "" {
		return false
	}
	for part := range strings.SplitSeq(f.words, "; ") {
		if !strings.Contains(part, "Invalid job id") && !strings.Contains(part, "already completing or completed") {
			return false
		}
	}
	return true
}

// removeLog removes the log of a released lease if it is empty.
func (e *executor) removeLog(lease string) {
	removeLogOf(e.x.Dir, lease, func(log fs.FileInfo) bool { return log.Size() == 0 })
}

// Close implements io.Closer. Afterwards no job is cancelled, because the jobs may belong to the
// next executor.
func (e *executor) Close() error {
	e.end()
	e.following.Wait()
	e.bridges.end()
	return nil
}
