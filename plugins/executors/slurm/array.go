package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A job array has the tasks of leases that ask for the same. The lease of a task follows from the name of the array,
// which is the prefix of the leases, a number and arrayMark, and from the task's index, which is added to the number.
// So each listing says it, after a crash too.
const (
	arrayMark = "+"
	// arraySpan is how many indices there are: as many as Slurm allows unless MaxArraySize says otherwise.
	arraySpan = 1000
	// fewest are the leases for which an array is worth while, and mostTasks are those of one, because its script,
	// which each of its nodes gets, has the values of all.
	fewest    = 4
	mostTasks = 100
)

// array has leases for one submission.
type array struct {
	base   uint64 // the number in its name
	leases []*lease
	// refused: Slurm has refused it; limited: for a limit, which single jobs may keep.
	refused, limited bool
}

// index returns the index of a lease's task.
func (a *array) index(l *lease, prefix string) uint64 {
	n, _ := l.number(prefix)
	return n - a.base
}

// number returns the number with which the name of a lease ends.
func (l *lease) number(prefix string) (n uint64, ok bool) {
	digits := strings.TrimPrefix(l.name, prefix)
	n, err := strconv.ParseUint(digits, 10, 32)
	return n, err == nil && digits == strconv.FormatUint(n, 10)
}

// leaseName returns the name of the lease to which a job belongs.
func (j *job) leaseName(prefix string) string {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(j.name, prefix), arrayMark)
	_, index, task := strings.Cut(j.leader, taskMark)
	base, err := strconv.ParseUint(digits, 10, 32)
	n, wrong := strconv.ParseUint(index, 10, 32)
	if !ok || !task || err != nil || wrong != nil {
		return j.name
	}
	return prefix + strconv.FormatUint(base+n, 10)
}

// taskMark is between the number of an array and the index of a task.
const taskMark = "_"

// isTask reports whether a job is the task of an array.
func isTask(id string) bool { return strings.Contains(id, taskMark) }

// arrays groups leases that ask for the same. The others are submitted one by one.
func (e *executor) arrays(leases []*lease) (arrays []*array, single []*lease) {
	groups := map[string]*array{}
	var all []*array
	for _, l := range leases {
		n, ok := l.number(e.x.Prefix)
		if !ok || l.single || e.single || l.shape.size() != 1 || e.needName() {
			single = append(single, l)
			continue
		}
		base := n / arraySpan * arraySpan
		// What the script has in common is in the arguments, too.
		key := fmt.Sprint(base, e.arguments("", l.shape))
		a := groups[key]
		if a == nil || len(a.leases) == mostTasks {
			a = &array{base: base}
			groups[key], all = a, append(all, a)
		}
		a.leases = append(a.leases, l)
	}
	for _, a := range all {
		if len(a.leases) < fewest {
			single = append(single, a.leases...)
		} else {
			arrays = append(arrays, a)
		}
	}
	return arrays, single
}

// needName reports whether arguments of the user mean something else for jobs that share a name.
func (e *executor) needName() bool {
	return slices.ContainsFunc(e.Args, func(a string) bool {
		return strings.Contains(a, "singleton") || strings.Contains(a, "%")
	})
}

// submitArrays submits arrays, and returns the leases of those that Slurm refuses: single jobs may be accepted, such as
// the last ones below a limit.
func (e *executor) submitArrays(ctx context.Context, arrays []*array) (refused []*lease, err error) {
	errs := make([]error, len(arrays))
	each(len(arrays), func(i int) { errs[i] = e.submitArray(ctx, arrays[i]) })
	for i, a := range arrays {
		f, ok := errors.AsType[*failure](errs[i])
		if !ok || !declined(f) {
			continue
		}
		a.refused, a.limited, errs[i] = true, tooMany(f), nil
		for _, l := range a.leases {
			l.doubt = false
		}
		refused = append(refused, a.leases...)
	}
	return refused, first(errs)
}

// submitArray submits an array. Other fields of the executor than its leases are not changed.
func (e *executor) submitArray(ctx context.Context, a *array) error {
	var values strings.Builder
	values.WriteString("case $SLURM_ARRAY_TASK_ID in\n")
	indices := make([]string, len(a.leases))
	for i, l := range a.leases {
		l.doubt, l.single = true, true
		indices[i] = strconv.FormatUint(a.index(l, e.x.Prefix), 10)
		fmt.Fprintf(&values, "%s)\n%s\t;;\n", indices[i], e.values(l))
	}
	values.WriteString("esac\nunset ${!SLURM_ARRAY_@}\nexport SLURM_JOB_NAME=$lease\n")
	shape := a.leases[0].shape
	name := e.x.Prefix + strconv.FormatUint(a.base, 10) + arrayMark
	args := append([]string{"--array=" + strings.Join(indices, ",")}, e.arguments(name, shape)...)
	out, err := e.submitter().run(ctx, script(&e.options, values.String(), shape), "sbatch", args...)
	if err != nil {
		return err
	}
	id, err := submitted(out)
	if err != nil {
		return err
	}
	for i, l := range a.leases {
		l.job, l.doubt = id+taskMark+indices[i], false
	}
	return nil
}

// declined reports whether Slurm has accepted no task of an array, and may accept single jobs.
func declined(f *failure) bool { return refusal(f) != "" || !f.late && tooMany(f) }

// tooMany reports whether a limit of the number of jobs refuses an array.
func tooMany(f *failure) bool {
	return slices.ContainsFunc([]string{"accounting/QOS policy", "Job submit limit", "SubmitJob", "Too many"},
		func(part string) bool { return strings.Contains(f.words, part) })
}

// forbidden reports whether Slurm has refused an array and has then accepted a single job of it: a site may allow no
// arrays (MaxArraySize).
func (a *array) forbidden() bool {
	return a.refused && !a.limited && slices.ContainsFunc(a.leases, func(l *lease) bool { return l.job != "" })
}
