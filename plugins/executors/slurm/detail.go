package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// errUnknown: Slurm does not know a job, or not any more.
var errUnknown = errors.New("scontrol knows no such job")

// shown is the number by which scontrol shows a job: that of a task is the array's, too.
func (j *job) shown() string {
	if isTask(j.leader) {
		return j.leader
	}
	return j.id
}

// isShown reports whether a line of scontrol is about a job.
func isShown(line, id string) bool {
	array, index, task := strings.Cut(id, taskMark)
	if !task {
		return strings.HasPrefix(line, "JobId="+id+" ")
	}
	return strings.Contains(line, " ArrayJobId="+array+" ArrayTaskId="+index+" ")
}

// show returns the fields of a job that scontrol prints.
func (s *slurm) show(ctx context.Context, id string) (map[string]string, error) {
	out, err := s.run(ctx, "", "scontrol", "--oneliner", "--details", "show", "job", id)
	if f, ok := errors.AsType[*failure](err); ok && (strings.Contains(f.words, "Invalid job id") ||
		strings.TrimSpace(out) == "Job "+id+" not found") { // of a task it says so on its standard output
		return nil, errUnknown
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if isShown(line, id) {
			fields := fieldsOf(line)
			fields[""] = line
			return fields, nil
		}
	}
	return nil, fmt.Errorf("scontrol printed nothing of the job %s: %q", id, shortened(out))
}

// fieldsOf reads NAME=VALUE; the first of a name counts. Values with spaces are cut.
func fieldsOf(line string) map[string]string {
	fields := map[string]string{}
	for _, f := range strings.Fields(line) {
		name, value, ok := strings.Cut(f, "=")
		if _, twice := fields[name]; ok && !twice && name != "" {
			fields[name] = value
		}
	}
	return fields
}

// portion has the resources of a job on each of some nodes.
type portion struct {
	nodes []string
	cpus  int
	gpus  []int // numbers, as CUDA_VISIBLE_DEVICES has them if no container hides others
}

// portionMemory has the CPUs and the memory of each of these parts.
var portionMemory = lazily.Regexp(`\sNodes=\S+ CPU_IDs=(\S+) Mem=(\d+) `)

// portions matches the parts of the detailed output that begin with Nodes=.
var portions = lazily.Regexp(`\sNodes=(\S+) CPU_IDs=(\S+) Mem=\d+ GRES=(\S*)`)

func portionsOf(line, gpu string) (list []portion, err error) {
	for _, m := range portions().FindAllStringSubmatch(line, -1) {
		var p portion
		if p.nodes, err = expand(m[1]); err != nil {
			return nil, err
		}
		cpus, err := numbersOf(m[2])
		if err != nil {
			return nil, err
		}
		p.cpus = len(cpus)
		if p.gpus, err = indices(m[3], gpu); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if list == nil {
		return nil, errors.New("scontrol printed no nodes of the job")
	}
	return list, nil
}

// indices reads the numbers of GPUs in text such as gpu:a100:2(IDX:0,3-4),other:1(CNT:1).
func indices(text, gpu string) (list []int, err error) {
	kind, _, _ := strings.Cut(gpu, ":")
	for item := range splitOutside(text, "(", ")") {
		name, rest, ok := strings.Cut(item, "(IDX:")
		if first, _, _ := strings.Cut(name, ":"); !ok || first != kind {
			continue
		}
		more, err := numbersOf(strings.TrimSuffix(rest, ")"))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	slices.Sort(list)
	return list, nil
}

// numbersOf expands 0-2,5.
func numbersOf(text string) (list []int, err error) {
	for r := range strings.SplitSeq(text, ",") {
		names, err := expandRange(r)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			n, err := strconv.Atoi(name)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// bundles returns the places of the bundles of a lease. Tasks fill the nodes in order, as srun
// places them.
func (e *executor) bundles(ctx context.Context, l *lease, jobs []job) (list []sdk.GrantedBundle, err error) {
	components := l.shape.components()
	if len(components) != len(jobs) {
		return nil, fmt.Errorf("the job has %d components and should have %d", len(jobs), len(components))
	}
	l.parts = nil
	for i, c := range components {
		more, err := e.component(ctx, c, &jobs[i])
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		for range more {
			l.parts = append(l.parts, partOf(i, jobs))
		}
	}
	e.address(ctx, list)
	return list, nil
}

// partOf returns the arguments with which srun finds the bundles of a component.
func partOf(component int, jobs []job) bundlePlace {
	if len(jobs) == 1 {
		component = -1
	}
	return bundlePlace{job: jobs[0].id, offset: component}
}

// address adds the addresses of gangs, whose members talk to each other.
func (e *executor) address(ctx context.Context, list []sdk.GrantedBundle) {
	if len(list) == 1 {
		return
	}
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.Node
	}
	known := e.nodes.addresses(ctx, names)
	for i := range list {
		list[i].Address = known[list[i].Node]
	}
}

func (e *executor) component(ctx context.Context, c shape, j *job) ([]sdk.GrantedBundle, error) {
	names, err := expand(j.nodes)
	if err != nil {
		return nil, err
	}
	gpus := c.gpus()
	if slices.Max(gpus) == 0 && (len(names) == 1 || len(names) == len(gpus)) {
		return e.plain(names, len(gpus)), nil
	}
	fields, err := e.slurm.show(ctx, j.shown())
	if err != nil {
		return nil, err
	}
	parts, err := portionsOf(fields[""], e.GPU)
	if err != nil {
		return nil, err
	}
	return place(gpus, names, parts)
}

// plain returns one bundle for each node, or all on one.
func (e *executor) plain(names []string, bundles int) (list []sdk.GrantedBundle) {
	for i := range bundles {
		list = append(list, sdk.GrantedBundle{Node: names[min(i, len(names)-1)]})
	}
	return list
}

// place gives bundles, with so many GPUs each, to the nodes of a job, in their order.
func place(gpus []int, names []string, parts []portion) (list []sdk.GrantedBundle, err error) {
	on, total := map[string]portion{}, 0
	for _, p := range parts {
		for _, n := range p.nodes {
			on[n] = p
			total += p.cpus
		}
	}
	for _, n := range names {
		p := on[n]
		each := max(1, p.cpus*len(gpus)/max(1, total)) // of the bundles: they have equally many CPUs
		for range min(each, len(gpus)-len(list)) {
			own := gpus[len(list)]
			if own > len(p.gpus) {
				return nil, fmt.Errorf("the job has too few GPUs on the node %s", n)
			}
			list = append(list, sdk.GrantedBundle{Node: n, Devices: texts(p.gpus[:own])})
			p.gpus = p.gpus[own:]
		}
	}
	if len(list) != len(gpus) {
		return nil, fmt.Errorf("the job has room for %d bundles of %d", len(list), len(gpus))
	}
	return list, nil
}

func texts(numbers []int) (list []string) {
	for _, n := range numbers {
		list = append(list, strconv.Itoa(n))
	}
	return list
}
