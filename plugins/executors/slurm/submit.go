package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/internal/plainfile"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// suspicious is the time in which a job may still appear after a submission without an answer.
const suspicious = 10 * time.Minute

// atOnce is how many commands run at the same time.
const atOnce = 8

// Allocate implements sdk.Executor.
func (e *executor) Allocate(ctx context.Context, leases []sdk.LeaseRequest) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	defer e.pass()
	names := make([]string, len(leases))
	for i := range leases {
		names[i] = leases[i].Lease
	}
	if err := e.settle(ctx, names); err != nil {
		return err
	}
	e.makeLogs()
	err := e.submitAll(ctx, e.fresh(leases))
	for i := range leases {
		if l := e.leases[leases[i].Lease]; l.doubt {
			e.suspect = e.now().Add(suspicious)
		}
	}
	e.pace.begin()
	e.soon()
	return err
}

// fresh returns the leases that are not submitted yet, and records all. It refuses those that cannot be.
func (e *executor) fresh(leases []sdk.LeaseRequest) (list []*lease) {
	for i := range leases {
		r := &leases[i]
		l := e.leases[r.Lease]
		if l == nil {
			l = &lease{name: r.Lease}
			e.leases[r.Lease] = l
		}
		l.request = r
		if l.job != "" {
			continue
		}
		var err error
		if l.shape, err = shapeOf(&e.options, r); err != nil {
			e.refuse(l, err.Error())
			continue
		}
		list = append(list, l)
	}
	return list
}

// submitAll submits leases: in arrays, or one by one.
func (e *executor) submitAll(ctx context.Context, leases []*lease) error {
	arrays, single := e.arrays(leases)
	refused, err := e.submitArrays(ctx, arrays)
	single = append(single, refused...)
	errs := make([]error, len(single))
	each(len(single), func(i int) { errs[i] = e.submit(ctx, single[i]) })
	e.single = e.single || slices.ContainsFunc(arrays, (*array).forbidden)
	return cmp.Or(err, first(errs))
}

// each calls f for each number below n, a few at a time.
func each(n int, f func(int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			f(i)
			<-slots
		})
	}
	all.Wait()
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// makeLogs makes the folder for the output of jobs. If that fails, the output is not kept.
func (e *executor) makeLogs() {
	if root, err := plainfile.Private(filepath.Join(e.x.Dir, logDir)); err == nil {
		_ = root.Close()
	}
}

// submit submits the job of a lease. Other fields of the executor than the lease are not changed.
func (e *executor) submit(ctx context.Context, l *lease) error {
	l.doubt = true
	text := script(&e.options, e.values(l), l.shape)
	out, err := e.submitter().run(ctx, text, "sbatch", e.arguments(l.name, l.shape)...)
	if err == nil {
		l.job, err = submitted(out)
		l.doubt = err != nil
		return err
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return err
	}
	if why := refusal(f); why != "" && !e.crowded(why) {
		l.doubt = false
		e.refuse(l, why+e.chosen(ctx, why))
		return nil
	}
	return f.advised()
}

// chosen returns what the user has chosen that sbatch may have refused: the arguments, and, for a partition that does
// not exist, those that do.
func (e *executor) chosen(ctx context.Context, why string) (text string) {
	if advice := adviceOnJob(why); advice != "" {
		text = " (" + advice + ")"
	}
	if strings.Contains(strings.ToLower(why), "invalid partition") {
		if out, err := e.slurm.run(ctx, "", "sinfo", "--noheader", "--format=%R"); err == nil {
			text += "; there are " + strings.Join(strings.Fields(out), ", ")
		}
	}
	return text + e.shown()
}

// shown names the options that a request has in words of the user: what a GPU is, and the arguments as they were read.
// YAML makes two items of a value with a comma.
func (o *options) shown() (text string) {
	if o.GPU != "gpu" {
		text = fmt.Sprintf("; the option gpu is %q", o.GPU)
	}
	if len(o.Args) > 0 {
		text += fmt.Sprintf("; the option args is %q", o.Args)
	}
	return text
}

// values returns the values of a lease for the script of its job.
func (e *executor) values(l *lease) string {
	return values(e.x.Dir, l.name, l.shape, e.agentOf(l.request))
}

// agentOf returns the program that runs on the bundles of a lease.
func (e *executor) agentOf(r *sdk.LeaseRequest) agent {
	if e.x.Agent == nil || r.Agent == "" {
		return agent{}
	}
	return agent{path: e.programOn(&e.x), sum: e.sum(&e.x), value: r.Agent, sockets: e.sockets(r.Lease)}
}

// crowded reports whether a limit refuses a job that other jobs of the experiment may have reached.
func (e *executor) crowded(why string) bool {
	return len(e.leases) > 1 && strings.Contains(why, "accounting/QOS policy") && adviceOnJob(why) == ""
}

// submitted reads the number of the job: "17" or "17;cluster", after anything that sites print.
func submitted(out string) (string, error) {
	id := ""
	for line := range strings.Lines(out) {
		number, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		if isNumber(number) {
			id = number
		}
	}
	if id == "" {
		return "", fmt.Errorf("sbatch printed no number of a job: %q", shortened(out))
	}
	return id, nil
}

// arguments returns the arguments of sbatch for each component.
func (e *executor) arguments(name string, s shape) (args []string) {
	for i, c := range s.components() {
		if i > 0 {
			args = append(args, ":")
		}
		args = append(args, "--parsable", "--job-name="+name, "--comment="+s.comment(), export,
			"--no-requeue", "--output=/dev/null")
		args = append(args, e.limits()...)
		args = append(args, c.sizes(e.GPU)...)
		args = append(args, e.Args...)
	}
	return args
}

// maxNotice is the most that --signal takes.
const maxNotice = 65535

func (e *executor) limits() (args []string) {
	if e.Partition != "" {
		args = append(args, "--partition="+e.Partition)
	}
	if e.limit > 0 {
		args = append(args, "--time="+slurmTime(e.limit))
	}
	if e.Notice >= 1 {
		args = append(args, fmt.Sprintf("--signal=B:USR1@%d", min(int(e.Notice), maxNotice)))
	}
	return args
}

// refuse reports to the host that a lease can never be granted.
func (e *executor) refuse(l *lease, why string) {
	e.report(l, sdk.LeaseEvent{Kind: sdk.LeaseRefused, Why: why})
}
