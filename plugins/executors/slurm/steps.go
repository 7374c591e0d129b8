package slurm

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// steps is the executor inside of an allocation. A lease is one srun with the name of the lease; Slurm gives each
// step CPUs and GPUs of its own (--exact). The srun is a process of its own, which outlives this one: what it
// prints is in a file, and it is found again by its arguments.
type steps struct {
	options
	x     sdk.Execution
	slurm *slurm
	tell  func(...sdk.LeaseEvent)
	now   func() time.Time
	job   string // the allocation
	// share is the memory of a CPU of the allocation in MiB, for bundles that request none; 0: not known.
	share int64

	mu      sync.Mutex
	adopted bool
	leases  map[string]*step
	bridges *bridges
	until   time.Time // the end of the allocation
	asked   time.Time // the last time that it was requested
	over    bool      // Slurm has said that the allocation has ended

	ctx context.Context // until Close
	end context.CancelFunc
	// following is for follow.
	following sync.WaitGroup
}

// step has the known facts about a lease.
type step struct {
	name    string
	bundles int
	pid     int
	told    sdk.LeaseEvent
	ending  bool
	request *sdk.LeaseRequest // nil: adopted
	// held: the step is not started, because the allocation ends.
	held bool
}

func newSteps(x sdk.Execution, o options, tell func(...sdk.LeaseEvent)) (*steps, error) {
	if o.Partition != "" {
		return nil, option.Wrong("partition", o.Partition, "nothing in an allocation (SLURM_JOB_ID is set), "+
			"whose nodes are used; pool: jobs submits jobs of their own")
	}
	e := &steps{options: o, x: x, slurm: newSlurm(o.timeout()), tell: tell, now: time.Now,
		job: os.Getenv("SLURM_JOB_ID"), leases: map[string]*step{},
		bridges: newBridges(&x, &o, stepEnvironment(os.Environ()))}
	e.bridges.unsent = e.unsent
	if err := e.checkNotice(); err != nil {
		return nil, err
	}
	e.ctx, e.end = context.WithCancel(context.Background())
	return e, nil
}

// checkNotice refuses an allocation that is too short for any trial. One that has only little time left is not refused:
// the host may have asked for it when there was more.
func (e *steps) checkNotice() error {
	fields, err := e.slurm.show(context.Background(), e.job)
	if err != nil {
		return nil // it is tried again when leases are requested
	}
	begin, err := strconv.ParseInt(fields["StartTime"], 10, 64)
	end, err2 := strconv.ParseInt(fields["EndTime"], 10, 64)
	if total := time.Duration(end-begin) * time.Second; err == nil && err2 == nil && total <= e.notice() {
		return option.Wrong("notice", e.Notice, "less than the time of the allocation, which is %v, so that trials "+
			"can run: set a smaller notice, or ask for a longer allocation (sbatch --time)", total)
	}
	return nil
}

// Allocate implements sdk.Executor.
func (e *steps) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	e.measure(ctx)
	e.askEnd(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range leases {
		r := &leases[i]
		if e.leases[r.Lease] != nil {
			continue
		}
		if e.closing() { // it would be taken away before it was of use
			e.leases[r.Lease] = &step{name: r.Lease, request: r, held: true}
			continue
		}
		if err := e.start(r); err != nil {
			return err
		}
	}
	return nil
}

// closing reports whether the allocation ends soon, so that no step is started any more. e.mu is held.
func (e *steps) closing() bool {
	return e.over || !e.until.IsZero() && !e.now().Before(e.until.Add(-e.notice()))
}

// measure determines a CPU's share of the memory. A step that requests no memory would get all of
// it.
func (e *steps) measure(ctx context.Context) {
	if e.share > 0 {
		return
	}
	fields, err := e.slurm.show(ctx, e.job)
	if err != nil {
		return
	}
	for _, m := range portionMemory().FindAllStringSubmatch(fields[""], -1) {
		cpus, err := numbersOf(m[1])
		mib, err2 := strconv.ParseInt(m[2], 10, 64)
		if err == nil && err2 == nil && mib > 0 && (e.share == 0 || mib/int64(len(cpus)) < e.share) {
			e.share = mib / int64(len(cpus))
		}
	}
}

// start starts the srun of a lease. e.mu is held.
func (e *steps) start(r *sdk.LeaseRequest) error {
	s, err := shapeOf(&e.options, r)
	if err != nil {
		e.tell(sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseRefused, Why: oneLine(err.Error())})
		return nil
	}
	s = s.uniform()
	log, err := openLog(e.x.Dir, r.Lease)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("srun", e.arguments(r.Lease, s)...)
	cmd.Env = append(stepEnvironment(os.Environ()), e.variables(r, s)...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("srun: %w", err)
	}
	go func() { _ = cmd.Wait() }() // its log says why it ended
	e.leases[r.Lease] = &step{name: r.Lease, bundles: s.size(), pid: cmd.Process.Pid, request: r}
	return nil
}

// Adopt implements sdk.Executor.
func (e *steps) Adopt(ctx context.Context, leases []string) error {
	ids, err := e.listed(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	running := sruns(e.x.Prefix)
	var others []*step
	for name := range running {
		if !slices.Contains(leases, name) {
			others = append(others, &step{name: name, pid: running[name]})
		}
	}
	if err := e.stop(ctx, others, ids); err != nil {
		return err
	}
	e.leases, e.adopted = map[string]*step{}, true
	e.bridges.retain(leases)
	for _, name := range leases {
		e.leases[name] = &step{name: name, bundles: adoptedBundles(e.x.Dir, name), pid: running[name]}
	}
	e.look()
	return nil
}

// adoptedBundles returns the number of bundles of a lease of an earlier process. The log of the
// lease begins with it.
func adoptedBundles(dir, name string) int {
	for _, p := range readLog(dir, name).places {
		return p.of
	}
	return 1
}

// listed returns the numbers of the steps by their names.
func (e *steps) listed(ctx context.Context) (map[string]string, error) {
	const header = "STEPID|NAME|"
	out, err := e.slurm.run(ctx, "", "squeue", "--steps", "--jobs="+e.job, "--format=%i|%j|")
	if err != nil {
		return nil, err
	}
	_, body, ok := strings.Cut(out, header+"\n")
	if !ok {
		return nil, fmt.Errorf("squeue printed something else than a list of steps: %q", shortened(out))
	}
	ids := map[string]string{}
	for line := range strings.Lines(body) {
		if f := strings.Split(line, "|"); len(f) == 3 {
			ids[f[1]] = f[0]
		}
	}
	return ids, nil
}

// sruns returns the processes of leases, by name.
func sruns(prefix string) map[string]int {
	list := map[string]int{}
	all, _ := filepath.Glob("/proc/[0-9]*") // on other systems there is no Slurm
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if name := leaseOf(pid); err == nil && strings.HasPrefix(name, prefix) && list[name] == 0 {
			list[name] = pid
		}
	}
	return list
}

// leaseOf returns the name of the lease of an srun, or "".
func leaseOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	args := strings.Split(string(text), "\x00")
	if len(args) < 2 || filepath.Base(args[0]) != "srun" {
		return ""
	}
	name, _ := strings.CutPrefix(args[1], nameFlag)
	return name
}

// Release implements sdk.Executor.
func (e *steps) Release(ctx context.Context, leases []string) error {
	e.bridges.shut(leases) // first: they would open others when the agents end
	ids, err := e.listed(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var released []*step
	for _, name := range leases {
		if l := e.leases[name]; l != nil {
			released = append(released, l)
		}
	}
	if err := e.stop(ctx, released, ids); err != nil {
		return err
	}
	for _, l := range released {
		e.bridges.close(l.name)
		delete(e.leases, l.name)
		removeLogOf(e.x.Dir, l.name, func(fs.FileInfo) bool { return true })
	}
	return nil
}

// stop ends the steps of leases, and each srun that waits for one.
func (e *steps) stop(ctx context.Context, leases []*step, ids map[string]string) error {
	for _, l := range leases {
		if ids[l.name] == "" && l.alive() {
			terminate(l.pid)
		}
	}
	e.ask(ctx, leases, ids)
	if cancel := unended(leases, ids); len(cancel) > 0 {
		if _, err := e.slurm.run(ctx, "", "scancel", cancel...); err != nil && !alreadyOver(err) {
			return err
		}
	}
	for _, l := range leases {
		if err := gone(ctx, l.pid, l.name); err != nil {
			return err
		}
	}
	return nil
}

// ask has agents end by themselves: Slurm kills the processes of a step that is cancelled at once, so that agents could
// not remove their sockets and files.
func (e *steps) ask(ctx context.Context, leases []*step, ids map[string]string) {
	asked := unended(leases, ids)
	if len(asked) == 0 {
		return
	}
	_, err := e.slurm.run(ctx, "", "scancel", append([]string{"--signal=INT"}, asked...)...)
	if err != nil && !alreadyOver(err) { // Slurm 22 says that of steps that it has signalled
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	for _, l := range leases {
		_ = gone(ctx, l.pid, l.name)
	}
}

// unended returns the steps of leases that have not ended, as far as their sruns tell.
func unended(leases []*step, ids map[string]string) (steps []string) {
	for _, l := range leases {
		if id := ids[l.name]; id != "" && (l.pid == 0 || l.alive()) {
			steps = append(steps, id)
		}
	}
	return steps
}

// The srun of a step that is cancelled ends when its tasks have ended. askedWithin is how long agents have before they
// are killed.
const (
	askedWithin = 5 * time.Second
	goneEvery   = 20 * time.Millisecond
	goneWithin  = 20 * time.Second
)

// gone waits until the srun of a lease has ended, because the lease lasts as long as the srun.
func gone(ctx context.Context, pid int, name string) error {
	ctx, cancel := context.WithTimeout(ctx, goneWithin)
	defer cancel()
	tick := time.NewTicker(goneEvery)
	defer tick.Stop()
	for pid != 0 && leaseOf(pid) == name {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the step of the lease %s has not ended yet", name)
		}
	}
	return nil
}

// follow looks at the steps until Close.
func (e *steps) follow() {
	tick := time.NewTicker(stepsEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		e.askEnd(e.ctx)
		e.mu.Lock()
		if e.adopted {
			e.look()
		}
		e.mu.Unlock()
	}
}

// stepsEvery is how often files of steps are looked at; endEvery is how often Slurm is asked for the end.
const (
	stepsEvery = 200 * time.Millisecond
	endEvery   = 30 * time.Second
)

// askEnd asks Slurm when the allocation ends.
func (e *steps) askEnd(ctx context.Context) {
	now := e.now()
	e.mu.Lock()
	soon := now.Sub(e.asked) < endEvery
	if !soon {
		e.asked = now
	}
	e.mu.Unlock()
	if soon {
		return
	}
	fields, err := e.slurm.show(ctx, e.job)
	if err != nil {
		return // the next time
	}
	seconds, err := strconv.ParseInt(fields["EndTime"], 10, 64)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until = time.Unix(seconds, 0); err != nil || time.Until(e.until) > noLimit {
		e.until = time.Time{}
	}
}

// look sends the changes of the leases to the host. e.mu is held.
func (e *steps) look() {
	for _, name := range slices.Sorted(maps.Keys(e.leases)) {
		l := e.leases[name]
		e.lookAt(l)
		if l.told.Kind == sdk.LeaseLost || l.told.Kind == sdk.LeaseRefused {
			delete(e.leases, name)
		}
	}
}

func (e *steps) lookAt(l *step) {
	if l.held {
		e.holdBack(l)
		return
	}
	alive := l.alive()
	log := readLog(e.x.Dir, l.name)
	granted := l.told.Kind == sdk.LeaseGranted || l.ending
	switch {
	case !alive && allocationOver(log.words):
		e.over = true
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseLost, Why: "the allocation has ended: " + log.words})
	case !alive && !granted && l.pid != 0 && log.refuses():
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseRefused, Why: log.words + e.shown()})
	case !alive:
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseLost, Why: "the step has ended" + prefixed(": ", log.why())})
	case !granted && len(log.places) == 0 && e.closing(): // what leaves makes room, for nothing that is of use
		terminate(l.pid)
		l.held = true
		e.holdBack(l)
	case !granted && len(log.places) == l.bundles:
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseGranted, Bundles: l.granted(log.places), Until: e.until})
	case !granted:
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: stepWhy(log.words)})
	case !l.ending && !e.until.IsZero() && !e.now().Before(e.until.Add(-e.notice())):
		l.ending = true
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseEnding, Until: e.until,
			Why: "the allocation ends soon"})
	}
}

// alive reports whether the srun of the lease has not ended.
func (l *step) alive() bool { return l.pid != 0 && leaseOf(l.pid) == l.name }

// holdBack handles a lease that waits when the allocation ends soon: it is not granted any more. It starts if the
// allocation gets more time.
func (e *steps) holdBack(l *step) {
	switch {
	case e.closing() || l.alive():
	case l.request == nil:
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseLost,
			Why: "the step was given up, because the allocation seemed to end"})
		return
	case e.start(l.request) == nil:
		return // in its place
	}
	why, until := e.ending()
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Until: until,
		Why: why + "; tunehost resume in the next one continues"})
}

// ending says that the allocation ends or has ended, and when.
func (e *steps) ending() (why string, at time.Time) {
	switch {
	case e.over: // possibly before its time, as when somebody cancels it
		return "the allocation has ended", e.now()
	case e.until.IsZero(): // it has got more time, and the srun that was told to end has not ended yet
		return "the allocation ends", e.now()
	}
	return "the allocation ends at " + e.until.Format(time.TimeOnly), e.until
}

// unsent gives a lease up to whose nodes the program cannot be sent.
func (e *steps) unsent(lease, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.leases[lease]
	if l == nil || l.told.Kind != sdk.LeaseGranted && !l.ending {
		return
	}
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseLost, Why: why})
	if l.alive() { // the system may have given its number to another process
		terminate(l.pid)
	}
	delete(e.leases, lease)
}

// allocationOver reports whether srun says that there is no allocation any more: it names the job in some messages.
func allocationOver(words string) bool { return expired().MatchString(words) }

var expired = lazily.Regexp(`already completing or completed|Invalid job id|Expired or invalid job|` +
	`[Jj]ob ([0-9+]+ )?has (expired|been revoked)`)

func (e *steps) report(l *step, event sdk.LeaseEvent) {
	event.Lease, event.Why = l.name, oneLine(event.Why)
	if event.Kind == sdk.LeasePending && l.told.Kind == sdk.LeasePending && event.Why == l.told.Why {
		return
	}
	l.told = event
	e.bridges.follows(&event, e.sockets(l.name), func(int) bundlePlace {
		return bundlePlace{job: e.job, offset: -1}
	})
	e.tell(event)
}

// stepWhy returns why a step waits, from the message of srun: step creation temporarily disabled,
// retrying (REASON). In a full allocation srun waits for minutes before it prints that.
func stepWhy(words string) string {
	if _, reason, ok := strings.Cut(words, "retrying ("); ok {
		reason, _, _ = strings.Cut(reason, ")")
		return "Slurm: " + reason + " (other steps of the allocation use what it needs)"
	}
	return "Slurm starts the step once the allocation has room for it"
}

// Close implements io.Closer. The steps continue.
func (e *steps) Close() error {
	e.end()
	e.following.Wait()
	e.bridges.end()
	return nil
}
