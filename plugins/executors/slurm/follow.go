package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// pace determines how often Slurm is asked: soon after a change, and then less and less often.
type pace struct {
	mu    sync.Mutex
	every time.Duration
}

// The time between two listings.
const (
	soonest = 200 * time.Millisecond
	// seldom applies while nothing is expected, waits while leases wait.
	seldom = 5 * time.Second
	waits  = 3 * time.Second
	// A listing may take this share of the time, and shareSoon of it while something is expected soon.
	share     = 10
	shareSoon = 3
	// soon is the longest time between two listings in which something is expected soon.
	soon = time.Second
	// slowest limits the effect of these shares, because notices of the end are short.
	slowest = 8 * time.Second
	// failing is the longest time between two listings after failures.
	failing = 30 * time.Second
)

func (p *pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = soonest
}

// next returns the time until the next listing; took is the duration of the last one.
func (p *pace) next(took, longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := max(p.every, soonest)
	p.every = min(every*5/4, longest)
	of := time.Duration(share)
	if every < soon {
		of = shareSoon
	}
	return max(every, took, min(of*took, slowest))
}

// trouble records the messages of squeue when it fails.
type trouble struct {
	failures int
}

// follow looks at the jobs until Close.
func (e *executor) follow() {
	timer := time.NewTimer(time.Hour)
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
		wait := e.look()
		e.pass()
		timer.Reset(wait)
	}
}

// look lists the jobs, sends what is new to the host, and returns when to look again.
func (e *executor) look() time.Duration {
	if !e.adopted || len(e.leases) == 0 && e.now().After(e.suspect) {
		return time.Hour // Allocate and Adopt wake follow
	}
	began := time.Now()
	list, err := e.slurm.list(e.ctx, e.x.Prefix)
	took := time.Since(began)
	if err != nil {
		return e.failed(err)
	}
	if e.trouble.failures >= worthSaying {
		fmt.Fprintln(os.Stderr, "squeue answers again")
	}
	e.trouble.failures = 0
	if e.update(e.ctx, list) {
		e.pace.begin() // jobs that wait together often start one soon after the other
	}
	e.cancelStrays(list)
	return min(e.pace.next(took, e.longest()), e.untilNotice(took))
}

// worthSaying is the number of failures in a row after which the user gets a message.
const worthSaying = 3

// failed reports that squeue fails, and returns when to try again. No lease is lost for this
// reason.
func (e *executor) failed(err error) time.Duration {
	e.trouble.failures++
	if e.trouble.failures == worthSaying && e.ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "%v; it is tried again until it answers\n", err)
	}
	if e.trouble.failures == 1 && e.ctx.Err() == nil { // what Slurm said before may be wrong by now
		for _, l := range e.sorted() {
			if l.told.Kind <= sdk.LeasePending {
				e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: oneLine(err.Error()) + "; it is tried again"})
			}
		}
	}
	return min(time.Second<<min(e.trouble.failures, 6), failing)
}

func (e *executor) longest() time.Duration {
	for _, l := range e.leases {
		if l.told.Kind != sdk.LeaseGranted {
			return waits
		}
	}
	return seldom
}

// pastEnd is the time between two listings while a job is past its end: the host must hear that Slurm has ended it
// before it finds out that the agents are gone, and cannot say why.
const pastEnd = time.Second

// untilNotice returns the time until the host must hear of the next end of a lease; took is the duration of the last
// listing.
func (e *executor) untilNotice(took time.Duration) time.Duration {
	next := time.Hour
	for _, l := range e.leases {
		if !l.completes.IsZero() {
			next = min(next, max(pastEnd, took))
		}
		if l.told.Kind == sdk.LeaseEnding && !l.until.IsZero() {
			next = min(next, max(pastEnd, took, l.until.Sub(e.now())))
		}
		if l.told.Kind == sdk.LeaseGranted && !l.until.IsZero() {
			next = min(next, max(soonest, l.until.Add(-e.notice()).Sub(e.now())))
		}
	}
	return next
}

// sorted returns the leases in the order of their jobs.
func (e *executor) sorted() []*lease {
	return slices.SortedFunc(maps.Values(e.leases), func(a, b *lease) int {
		if len(a.name) != len(b.name) {
			return len(a.name) - len(b.name)
		}
		return strings.Compare(a.name, b.name)
	})
}

// update sends the changes of the leases to the host, and reports whether one was granted.
func (e *executor) update(ctx context.Context, list map[string][]job) (granted bool) {
	draining := e.draining(ctx)
	leases := e.sorted()
	before := e.waiting()
	each(len(leases), func(i int) { e.updateOne(ctx, leases[i], list[leases[i].name], draining) })
	granted = e.waiting() < before
	for name, l := range e.leases {
		if l.told.Kind == sdk.LeaseLost || l.told.Kind == sdk.LeaseRefused {
			delete(e.leases, name)
		}
	}
	return granted
}

// waiting returns the number of leases that are not granted yet.
func (e *executor) waiting() (n int) {
	for _, l := range e.leases {
		if l.told.Kind <= sdk.LeasePending {
			n++
		}
	}
	return n
}

// updateOne sends the changes of a lease to the host. It changes only the lease.
func (e *executor) updateOne(ctx context.Context, l *lease, all []job, draining map[string]string) {
	if l.doubt && len(all) > 0 {
		l.found(chosen(all))
	}
	jobs := all[:0:0]
	for _, j := range all {
		if j.leader == l.job && l.job != "" {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b job) int { return a.offset - b.offset })
	switch {
	case l.told.Kind == sdk.LeaseRefused:
	case len(jobs) == 0:
		e.absent(ctx, l)
	case slices.ContainsFunc(jobs, func(j job) bool { return j.stage() == over }):
		e.over(ctx, l, jobs)
	case slices.ContainsFunc(jobs, func(j job) bool { return j.stage() == waiting }):
		e.waits(ctx, l, jobs)
	default:
		e.runs(ctx, l, jobs, draining)
	}
	if len(jobs) > 0 {
		l.missing = 0
	}
}

// absences is the number of listings without a job after which scontrol is asked for it.
const absences = 2

// absent handles a lease whose job is not listed.
func (e *executor) absent(ctx context.Context, l *lease) {
	if l.job == "" {
		if l.request == nil { // adopted
			e.lose(l, "Slurm has no job for this lease")
		}
		return // it is submitted again by the host
	}
	if l.missing++; l.missing < absences {
		return
	}
	if _, err := e.slurm.show(ctx, l.job); errors.Is(err, errUnknown) {
		e.lose(l, e.unknownWhy(l))
	}
}

// recent is less than the time for which Slurm has a record of a job that has ended (MinJobAge, 5 minutes unless a site
// has changed it).
const recent = time.Minute

// unknownWhy returns why Slurm does not know the job of a lease. It has no record of a task that is cancelled while
// others of its array wait, and records of all that have begun for a while.
func (e *executor) unknownWhy(l *lease) string {
	if isTask(l.job) && l.told.Kind == sdk.LeasePending && e.now().Sub(l.waited) < recent {
		return cancelledWaiting + "; Slurm does not know the task " + l.job + " any more"
	}
	return "Slurm does not know the job " + l.job + " any more" + l.wasOn()
}

// wasOn names the nodes on which a lease was granted.
func (l *lease) wasOn() string {
	nodes := slices.Compact(slices.Sorted(slices.Values(l.nodes)))
	return prefixed("; it was on ", theNodes(strings.Join(nodes, ",")))
}

// over handles a lease with a component that has ended.
func (e *executor) over(ctx context.Context, l *lease, jobs []job) {
	i := slices.IndexFunc(jobs, func(j job) bool { return j.stage() == over })
	j := jobs[i]
	fields, err := e.slurm.show(ctx, j.shown())
	if err != nil {
		fields = map[string]string{"Reason": j.reason}
	}
	if slices.ContainsFunc(jobs, func(j job) bool { return j.held() }) {
		if e.cancel(ctx, []string{l.job}) != nil {
			return // the next look tries again
		}
	}
	if err == nil && e.completing(l, &j, fields) {
		return
	}
	if never(&j) {
		e.refuse(l, pendingWhy(&job{state: "PENDING", reason: j.reason}))
		return
	}
	last := lastWords(e.x.Dir, l.name)
	if last == "" && strings.HasPrefix(fields["ExitCode"], absent+":") {
		last = e.notThere(j.nodes)
	}
	why := lostWhy(&j, fields, last)
	if strings.Contains(why, somebody) {
		why = named(why, e.canceller(ctx, j.shown()))
	}
	e.lose(l, why)
}

// notThere says that the program is not on the nodes of a job that could not say so itself.
func (e *executor) notThere(nodes string) string {
	if e.Send {
		return "the program was not sent to " + theNodes(nodes)
	}
	return fmt.Sprintf("%s is not on %s: put tunehost where all nodes see it (the option program names its path "+
		"there), or set send: true", e.programOn(&e.x), theNodes(nodes))
}

// completingFor is how long a job may be COMPLETING until its lease is lost: as long as Slurm usually lets processes
// live that it has told to end (KillWait), and a little more. Until then, trials may save.
const completingFor = 35 * time.Second

// completing reports whether Slurm may soon say why a job ends: while processes of it live, its state is COMPLETING in
// any case. The host is told that the lease ends.
func (e *executor) completing(l *lease, j *job, fields map[string]string) bool {
	exited := endedItself(fields["ExitCode"]) // then it is the script that has ended the job
	if finalState(j, fields) != completing || exited || e.x.Agent == nil || l.told.Kind < sdk.LeaseGranted {
		return false
	}
	if l.completes.IsZero() {
		l.completes = e.now()
	}
	if !l.ending {
		e.ends(l, e.now(), "Slurm ends the job, as when it is cancelled")
	}
	return e.now().Sub(l.completes) < completingFor
}

// endedItself reports whether an exit code of Slurm, STATUS:SIGNAL, is that of a script that failed. A script that is
// killed has a signal, or, where the shell waits for what was killed, 128 and the signal. It ends before the job does
// that has other components to clean up.
func endedItself(code string) bool {
	text, signal, _ := strings.Cut(code, ":")
	status, err := strconv.Atoi(text)
	return err == nil && status != 0 && status <= 128 && signal == "0"
}

// waits handles a lease with a component that waits.
func (e *executor) waits(ctx context.Context, l *lease, jobs []job) {
	i := slices.IndexFunc(jobs, func(j job) bool { return j.stage() == waiting })
	j := &jobs[i]
	l.waited = e.now()
	switch {
	case l.told.Kind == sdk.LeaseGranted || l.ending:
		if e.cancel(ctx, []string{l.job}) == nil {
			e.lose(l, "Slurm has put the job back into its queue: "+pendingWhy(j)+l.wasOn())
		}
	case never(j):
		if e.cancel(ctx, []string{l.job}) == nil {
			e.refuse(l, pendingWhy(j))
		}
	case doubtful(j) && l.told.Why != pendingWhy(j) && e.impossible(ctx, l, j):
	default:
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeasePending, Why: pendingWhy(j)})
	}
}

// impossible refuses a lease if sbatch says that it can never start. If nodes are down, they may be
// the reason.
func (e *executor) impossible(ctx context.Context, l *lease, j *job) bool {
	nodes, err := e.nodes.read(ctx, e.Partition)
	if err != nil || slices.ContainsFunc(nodes, func(n node) bool { return n.down() }) {
		return false
	}
	args := append([]string{"--test-only"}, e.arguments(l.name, l.shape)...)
	_, err = e.slurm.run(ctx, "#!/bin/sh\n", "sbatch", args...)
	f, ok := errors.AsType[*failure](err)
	if !ok || !strings.Contains(f.words, "allocation failure") || e.cancel(ctx, []string{l.job}) != nil {
		return false
	}
	e.refuse(l, "sbatch: "+f.words+"; "+pendingWhy(j))
	return true
}

// runs handles a lease with components that all run.
func (e *executor) runs(ctx context.Context, l *lease, jobs []job, draining map[string]string) {
	before, until := l.until, earliest(jobs)
	l.until = until
	if l.told.Kind != sdk.LeaseGranted && !l.ending {
		bundles, err := e.bundles(ctx, l, jobs)
		if err != nil {
			fmt.Fprintf(os.Stderr, "where the job %s runs is not known: %v; it is tried again\n", l.job, err)
			return
		}
		e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseGranted, Bundles: bundles, Until: until})
		before, l.since = until, e.now()
	}
	// Slurm has brought the end forward: the job is preempted, after its grace time.
	sooner := !until.IsZero() && (before.IsZero() || until.Before(before.Add(-time.Second)))
	for _, n := range l.nodes {
		// Slurm starts no job on a node that is drained: what was listed before the job began is over.
		if why, drains := draining[n]; drains && !l.ending && e.nodes.asked.After(l.since) {
			end := e.now().Add(max(e.notice(), time.Second))
			if !until.IsZero() && until.Before(end) {
				end = until
			}
			e.ends(l, end, "the node "+n+" is being drained: "+why)
		}
	}
	switch {
	case l.ending:
	case slices.ContainsFunc(jobs, func(j job) bool { return j.preempted }):
		if until.IsZero() { // only the partition knows its grace time
			until = e.now().Add(max(e.notice(), time.Second))
		}
		e.ends(l, until, "Slurm preempts the job")
	case sooner:
		e.ends(l, until, "Slurm has brought the end of the job forward, as for a preemption")
	case !until.IsZero() && !e.now().Before(until.Add(-e.notice())):
		e.ends(l, until, "the time limit of the job is near")
	}
}

func (e *executor) ends(l *lease, at time.Time, why string) {
	l.ending = true
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseEnding, Until: at, Why: why})
}

// earliest returns the earliest end of the components.
func earliest(jobs []job) (end time.Time) {
	for _, j := range jobs {
		if !j.end.IsZero() && (end.IsZero() || j.end.Before(end)) {
			end = j.end
		}
	}
	return end
}

func (e *executor) lose(l *lease, why string) {
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseLost, Why: why})
}

// unsent gives a lease up to whose nodes the program cannot be sent.
func (e *executor) unsent(lease, why string) {
	if e.take(e.ctx) != nil {
		return
	}
	defer e.pass()
	l := e.leases[lease]
	if l == nil || l.told.Kind != sdk.LeaseGranted && !l.ending {
		return
	}
	_ = e.cancel(e.ctx, []string{l.job}) // the host releases the lease, too
	e.lose(l, why)
	delete(e.leases, lease)
}

// report sends an event of a lease to the host if it is new.
func (e *executor) report(l *lease, event sdk.LeaseEvent) {
	event.Lease, event.Why = l.name, oneLine(event.Why)
	if event.Kind == sdk.LeasePending && l.told.Kind == sdk.LeasePending && event.Why == l.told.Why {
		return
	}
	l.told = event
	for _, b := range event.Bundles {
		l.nodes = append(l.nodes, b.Node)
	}
	e.bridges.follows(&event, e.sockets(l.name), func(bundle int) bundlePlace { return l.parts[bundle] })
	e.tell(event)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cancelStrays cancels jobs with the experiment's names that belong to no lease: those of submissions whose
// answer came too late, and second ones. Each has been in two listings, because a listing may be
// older than a submission.
func (e *executor) cancelStrays(list map[string][]job) {
	if e.now().After(e.suspect) {
		return
	}
	seen := map[string]bool{}
	var ids []string
	for name, jobs := range list {
		for _, j := range jobs {
			l := e.leases[name]
			if !j.held() || j.offset > 0 || l != nil && (l.job == "" || l.job == j.leader) {
				continue
			}
			seen[j.leader] = true
			if e.strays[j.leader] {
				ids = append(ids, j.leader)
			}
		}
	}
	e.strays = seen
	if len(ids) > 0 {
		_ = e.cancel(e.ctx, ids) // tried again after the next listing
	}
}

// maxLog is the length of the end of a log that is read for its last line, and mostWords the
// largest number of characters of that line.
const (
	maxLog    = 4096
	mostWords = 400
)

// lastWords returns the last line of the log of a lease, or "". That of a setup that has failed comes first, because
// others follow it: those of the login shell's end, and of other bundles. Slurm's own messages at the end of a job
// count only if there is nothing else. A long line loses its beginning.
func lastWords(dir, lease string) string {
	lines := lastLines(dir, lease)
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, setupFailed) }); i >= 0 {
		return lastOf(strings.TrimSpace(withReason(lines[:i], lines[i])), mostWords)
	}
	last := lines[len(lines)-1]
	if i := lastSaid(lines); i >= 0 {
		last = lines[i]
	}
	if strings.HasPrefix(last, mark) || noReason().MatchString(last) {
		return ""
	}
	return lastOf(strings.TrimSpace(ofScript().ReplaceAllString(last, "")), mostWords)
}

// lastLines returns the end of the log of a lease.
func lastLines(dir, lease string) []string {
	f, err := readLogOf(dir, lease)
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return []string{""}
	}
	text := make([]byte, maxLog)
	n, _ := f.ReadAt(text, max(0, info.Size()-maxLog))
	return strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "")), "\n")
}

// lastSaid returns the index of the last line that a program has printed, or -1.
func lastSaid(lines []string) int {
	for i, l := range slices.Backward(lines) {
		if !strings.HasPrefix(l, "srun: ") && !strings.HasPrefix(l, "slurmstepd: ") &&
			!strings.HasPrefix(l, mark) && !noReason().MatchString(l) {
			return i
		}
	}
	return -1
}

// withReason adds to the message about a setup in an allocation what was printed before it. The script of a job adds
// that itself.
func withReason(before []string, message string) string {
	if i := lastSaid(before); i >= 0 && stepFailed().MatchString(message) {
		return message + prefixed(": ", strings.TrimSpace(ofScript().ReplaceAllString(before[i], "")))
	}
	return message
}

// stepFailed matches the message about a setup in an allocation.
var stepFailed = lazily.Regexp(`\(exit status [0-9]+\) on the node \S*$`)

// ofScript is what bash puts before its messages about a job's script, which the user has not written.
var ofScript = lazily.Regexp(`^\S*(slurm_script|bash): (eval: )?line [0-9]+: `)

// noReason is what bash says of a process of the script that a signal has ended, and the agent of the notice of the
// end: that is not the reason of anything.
var noReason = lazily.Regexp(`^\S*slurm_script: line [0-9]+: +[0-9]+ |^tunehost agent: the node is taken away soon `)

// lastOf returns the end of a text.
func lastOf(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return text
}
