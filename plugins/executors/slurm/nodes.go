package slurm

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// nodes has the known facts about the nodes of the cluster.
type nodes struct {
	slurm *slurm
	mu    sync.Mutex
	known map[string]string // addresses, by name
	asked time.Time         // the last time that draining nodes were listed
	drain map[string]string // why nodes are drained
}

// node is a node as sinfo lists it.
type node struct {
	name, address, state, reason string
	total, free                  []sdk.Amount
}

// down reports whether a node takes no jobs.
func (n *node) down() bool {
	for _, word := range []string{"down", "drain", "fail", "maint", "unk", "power", "reboot", "future", "*"} {
		if strings.Contains(n.state, word) {
			return true
		}
	}
	return false
}

// Columns are separated by bars; with --Format each ends with what follows its colon.
const sinfoFormat = "NodeList:|,NodeAddr:|,CPUsState:|,Memory:|,AllocMem:|,Gres:|,GresUsed:|,StateLong:|,Reason:|"

const sinfoColumns = 9

// read lists the nodes of a partition, or of all.
func (n *nodes) read(ctx context.Context, partition string) ([]node, error) {
	args := []string{"--noheader", "--Node", "--Format=" + sinfoFormat}
	if partition != "" {
		args = append(args, "--partition="+partition)
	}
	out, err := n.slurm.run(ctx, "", "sinfo", args...)
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

func parseNodes(out string) (list []node, err error) {
	seen := map[string]bool{} // a node is listed for each of its partitions
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", sinfoColumns)
		if len(f) != sinfoColumns {
			return nil, fmt.Errorf("sinfo printed a line that is none of a list of nodes: %q", shortened(line))
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if seen[f[0]] {
			continue
		}
		seen[f[0]] = true
		one := node{name: f[0], address: f[1], state: f[7], reason: strings.TrimSuffix(f[8], "|")}
		if err := one.amounts(f); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// amounts reads the total and the free amounts of a node.
func (n *node) amounts(f []string) error {
	cpus := strings.Split(f[2], "/") // allocated/idle/other/total
	if len(cpus) != 4 {
		return fmt.Errorf("sinfo printed the CPUs %q", shortened(f[2]))
	}
	add := func(name, free, total string, unit float64) error {
		x, err := strconv.ParseFloat(free, 64)
		y, err2 := strconv.ParseFloat(total, 64)
		if err != nil || err2 != nil {
			return fmt.Errorf("sinfo printed %q of %q as %s", shortened(free), shortened(total), name)
		}
		n.total = append(n.total, sdk.Amount{Name: name, Value: y * unit})
		n.free = append(n.free, sdk.Amount{Name: name, Value: max(0, min(x, y)) * unit})
		return nil
	}
	if err := add("cpu", cpus[1], cpus[3], 1); err != nil {
		return err
	}
	gpus, used := countOf(f[5]), countOf(f[6])
	if err := add("gpu", strconv.Itoa(gpus-used), strconv.Itoa(gpus), 1); err != nil {
		return err
	}
	allocated, err := strconv.ParseFloat(f[4], 64)
	if err != nil {
		return fmt.Errorf("sinfo printed the memory %q", shortened(f[4]))
	}
	memory, _ := strconv.ParseFloat(f[3], 64)
	return add("memory", fmt.Sprint(memory-allocated), f[3], 1<<20)
}

// countOf adds up the GPUs in text such as gpu:a100:2(S:0-1),gpu:1,other:3.
func countOf(text string) (n int) {
	for item := range strings.SplitSeq(text, ",") {
		item, _, _ = strings.Cut(item, "(")
		name, count, ok := cutLast(item, ":")
		if kind, _, _ := strings.Cut(name, ":"); ok && kind == "gpu" {
			more, _ := strconv.Atoi(count)
			n += more
		}
	}
	return n
}

// drainEvery is how often draining nodes are listed.
const drainEvery = 30 * time.Second

// addresses returns the addresses at which other nodes reach the nodes, as far as Slurm knows them.
func (n *nodes) addresses(ctx context.Context, names []string) map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		if _, ok := n.known[name]; ok {
			continue
		}
		list, err := n.read(ctx, "")
		if err != nil {
			fmt.Fprintf(os.Stderr, "the addresses of the nodes are not known: %v\n", err)
			break
		}
		n.known = map[string]string{}
		for _, one := range list {
			n.known[one.name] = one.address
		}
		break
	}
	return n.known
}

// draining returns why nodes are drained, by name.
func (e *executor) draining(ctx context.Context) map[string]string {
	if now := e.now(); now.Sub(e.nodes.asked) < drainEvery || !e.anyGranted() {
		return e.nodes.drain
	}
	e.nodes.asked = e.now()
	out, err := e.slurm.run(ctx, "", "sinfo", "--noheader", "--Node", "--states=drain", "--format=%N|%E|;")
	if err != nil {
		fmt.Fprintf(os.Stderr, "which nodes are drained is not known: %v\n", err)
		return e.nodes.drain
	}
	e.nodes.drain = map[string]string{}
	for line := range strings.Lines(out) {
		if name, why, ok := strings.Cut(line, "|"); ok && strings.HasSuffix(why, "|;\n") {
			e.nodes.drain[name] = strings.TrimSuffix(why, "|;\n")
		}
	}
	return e.nodes.drain
}

func (e *executor) anyGranted() bool {
	for _, l := range e.leases {
		if l.told.Kind == sdk.LeaseGranted {
			return true
		}
	}
	return false
}

// usual returns the partition of jobs that name none; "": it is not known.
func (n *nodes) usual(ctx context.Context) string {
	out, err := n.slurm.run(ctx, "", "sinfo", "--noheader", "--format=%P")
	if err != nil {
		return ""
	}
	for _, name := range strings.Fields(out) {
		if usual, is := strings.CutSuffix(name, "*"); is {
			return usual
		}
	}
	return ""
}

// Capacity implements sdk.CapacityExecutor. It lacks the nodes on which no lease can be: those of other partitions, and
// those that args leave out.
func (e *executor) Capacity(ctx context.Context) (list []sdk.ClusterNode, err error) {
	partition := e.Partition
	if partition == "" {
		partition = e.nodes.usual(ctx)
	}
	nodes, err := e.nodes.read(ctx, partition)
	for _, n := range nodes {
		if !e.leaves(n.name) {
			continue
		}
		list = append(list, sdk.ClusterNode{Name: n.name, Total: n.total, Free: n.free, Down: n.down()})
	}
	return list, err
}

// leaves reports whether the user's arguments leave a node to leases: with --nodelist all have the nodes of the list.
func (o *options) leaves(node string) bool {
	list := o.listed("nodelist", "w")
	return !o.listed("exclude", "x")[node] && (len(list) == 0 || list[node])
}

// listed are the nodes that an argument lists. Those in a file are not known; Slurm takes a value with a slash for one.
func (o *options) listed(long, short string) map[string]bool {
	found := map[string]bool{}
	for i, a := range o.Args {
		if !names(a, long, short) {
			continue
		}
		list := valueOf(a, "-"+short, o.Args[i+1:])
		nodes, err := expand(list)
		if err != nil || strings.Contains(list, "/") {
			continue
		}
		for _, name := range nodes {
			found[name] = true
		}
	}
	return found
}

// valueOf returns the value of an argument: after =, beside its short name, or the next one.
func valueOf(arg, short string, next []string) string {
	_, value, _ := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "--") {
		value = strings.TrimPrefix(arg, short)
	}
	if value == "" && len(next) > 0 {
		value = next[0]
	}
	return value
}
