package slurm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// shape is the request of a lease in whole units of Slurm.
type shape struct {
	strategy string
	groups   []group
}

// group is a number of equal bundles that follow each other.
type group struct {
	count  int
	bundle bundle
}

// bundle has the amounts of a bundle. Shares of CPUs and GPUs are rounded up, because Slurm has
// none.
type bundle struct {
	cpus, gpus int
	mib        int64  // memory; 0: the cluster's default
	others     string // other generic resources, as --gres has them
}

// The strategies of a request.
const (
	pack         = "pack"
	spread       = "spread"
	strictPack   = "strict_pack"
	strictSpread = "strict_spread"
)

// mostOf limits an amount of a bundle.
const mostOf = 1 << 30

// shapeOf returns the shape of a request.
func shapeOf(o *options, r *sdk.LeaseRequest) (shape, error) {
	s := shape{strategy: r.Strategy}
	for _, amounts := range r.Bundles {
		b, err := bundleOf(o, amounts)
		if err != nil {
			return s, err
		}
		if n := len(s.groups); n > 0 && s.groups[n-1].bundle == b {
			s.groups[n-1].count++
		} else {
			s.groups = append(s.groups, group{1, b})
		}
	}
	return s, nil
}

func bundleOf(o *options, amounts sdk.LeaseBundle) (bundle, error) {
	b := bundle{cpus: 1, mib: int64(math.Ceil(o.Memory * 1024))}
	var others []string
	for _, a := range amounts {
		if !(a.Value >= 0) || a.Name != "memory" && a.Value > mostOf || a.Value > mostOf<<20 {
			return b, fmt.Errorf("%v of %s is more than Slurm can count", a.Value, a.Name)
		}
		whole := int(math.Ceil(a.Value))
		switch {
		case a.Name == "cpu":
			b.cpus = max(1, whole)
		case a.Name == "gpu":
			b.gpus = whole
		case a.Name == "memory":
			b.mib = max(b.mib*boolean(a.Value == 0), int64(math.Ceil(a.Value/(1<<20))))
		case !word().MatchString(a.Name):
			return b, fmt.Errorf("%q cannot be the name of a generic resource (gres) of Slurm", a.Name)
		case whole > 0:
			others = append(others, fmt.Sprintf("%s:%d", a.Name, whole))
		}
	}
	b.others = strings.Join(others, ",")
	return b, nil
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// size returns the number of bundles.
func (s shape) size() (n int) {
	for _, g := range s.groups {
		n += g.count
	}
	return n
}

// gpus returns the number of GPUs of each bundle.
func (s shape) gpus() (list []int) {
	for _, g := range s.groups {
		list = append(list, slices.Repeat([]int{g.bundle.gpus}, g.count)...)
	}
	return list
}

// components returns the groups that share nodes: each is a component of a heterogeneous job, and
// Slurm gives different components different nodes. With strict_pack there is one.
func (s shape) components() []shape {
	if s.strategy == strictPack {
		return []shape{s}
	}
	list := make([]shape, len(s.groups))
	for i, g := range s.groups {
		list[i] = shape{s.strategy, []group{g}}
	}
	return list
}

// sizes returns the arguments of sbatch or srun for the amounts of a component.
func (s shape) sizes(gpu string) []string {
	first := s.groups[0]
	switch {
	case s.strategy == strictPack && s.size() > 1:
		return s.onOneNode(gpu)
	case first.count == 1:
		return first.bundle.perNode(gpu, "--nodes=1", "--ntasks=1")
	case s.strategy == strictSpread || !first.bundle.perTask(gpu):
		return first.bundle.perNode(gpu, fmt.Sprint("--nodes=", first.count), fmt.Sprint("--ntasks=", first.count),
			"--ntasks-per-node=1")
	}
	return append(s.anywhere(gpu), map[string][]string{spread: {"--spread-job"}}[s.strategy]...)
}

// perNode adds the amounts of one bundle on its own node.
func (b bundle) perNode(gpu string, args ...string) []string {
	args = append(args, fmt.Sprint("--cpus-per-task=", b.cpus))
	if b.mib > 0 {
		args = append(args, fmt.Sprintf("--mem=%dM", b.mib))
	}
	return append(args, gres(gpu, b.gpus, b.others)...)
}

func gres(gpu string, gpus int, others string) []string {
	var list []string
	if gpus > 0 {
		list = append(list, fmt.Sprintf("%s:%d", gpu, gpus))
	}
	if others != "" {
		list = append(list, others)
	}
	if list == nil {
		return nil
	}
	return []string{"--gres=" + strings.Join(list, ",")}
}

// perTask reports whether Slurm can give this to each task on any node.
func (b bundle) perTask(gpu string) bool {
	return b.others == "" && (b.gpus == 0 || gpu == "gpu" || strings.HasPrefix(gpu, "gpu:"))
}

// anywhere returns the arguments for bundles that may share nodes.
func (s shape) anywhere(gpu string) []string {
	b := s.groups[0].bundle
	args := []string{fmt.Sprint("--ntasks=", s.size()), fmt.Sprint("--cpus-per-task=", b.cpus)}
	if b.mib > 0 {
		args = append(args, fmt.Sprintf("--mem-per-cpu=%dM", (b.mib+int64(b.cpus)-1)/int64(b.cpus)))
	}
	if b.gpus > 0 {
		kind := strings.TrimPrefix(strings.TrimPrefix(gpu, "gpu"), ":")
		if kind != "" {
			kind += ":"
		}
		args = append(args, fmt.Sprintf("--gpus-per-task=%s%d", kind, b.gpus))
	}
	return args
}

// onOneNode returns the arguments for bundles that share one node.
func (s shape) onOneNode(gpu string) []string {
	var all bundle
	var others []string
	for _, g := range s.groups {
		all.cpus = max(all.cpus, g.bundle.cpus)
		all.gpus += g.count * g.bundle.gpus
		all.mib += int64(g.count) * g.bundle.mib
		for range g.count {
			if g.bundle.others != "" {
				others = append(others, strings.Split(g.bundle.others, ",")...)
			}
		}
	}
	all.others = summed(others)
	return all.perNode(gpu, "--nodes=1", fmt.Sprint("--ntasks=", s.size()))
}

// summed adds up name:count.
func summed(list []string) string {
	var names []string
	counts := map[string]int{}
	for _, item := range list {
		name, count, _ := cutLast(item, ":")
		n := 0
		fmt.Sscan(count, &n)
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name] += n
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s:%d", name, counts[name])
	}
	return strings.Join(names, ",")
}

func cutLast(text, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// The comment of a job has the shape, for a later process of this plugin:
// tunehost:pack:2*1c0g,1*2c1g.
const commentMark = "tunehost:"

// comment returns the text that a later process needs to adopt the job.
func (s shape) comment() string {
	list := make([]string, len(s.groups))
	for i, g := range s.groups {
		list[i] = fmt.Sprintf("%d*%dc%dg", g.count, g.bundle.cpus, g.bundle.gpus)
	}
	return commentMark + s.strategy + ":" + strings.Join(list, ",")
}

// fromComment reads the comment of a job, to which others may have added something.
func fromComment(text string) (shape, bool) {
	_, text, ok := strings.Cut(text, commentMark)
	if !ok {
		return shape{}, false
	}
	strategy, list, _ := strings.Cut(text, ":")
	s := shape{strategy: strategy}
	list, _, _ = strings.Cut(list, " ")
	for item := range strings.SplitSeq(list, ",") {
		var g group
		_, err := fmt.Sscanf(item, "%d*%dc%dg", &g.count, &g.bundle.cpus, &g.bundle.gpus)
		if err != nil || g.count < 1 || g.count > maxNodes || g.bundle.cpus < 1 || g.bundle.gpus < 0 {
			return shape{}, false
		}
		s.groups = append(s.groups, g)
	}
	return s, len(s.groups) > 0
}
