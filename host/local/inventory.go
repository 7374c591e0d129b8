package local

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Node is what a machine offers.
type Node struct {
	// Name is the name of the machine, or "node0", "node1", … for virtual ones.
	Name string
	// Amounts is the capacity by resource: "cpu", "memory" (bytes), "gpu" and custom names. Missing names
	// are not offered.
	Amounts map[string]string
	// GPUs has as many entries as Amounts["gpu"] says.
	GPUs []GPU
}

// GPU is one device.
type GPU struct {
	// ID is what CUDA_VISIBLE_DEVICES takes: an index, or the UUID if the user's own setting has it.
	ID string
	// Index is the device's number on this machine, independent of ID.
	Index string
	// UUID, Model and MemoryMiB are as nvidia-smi reports them; empty for devices that the user made up.
	UUID, Model string
	MemoryMiB   uint64
}

// IDs returns the ids of the node's GPUs, in order.
func (n Node) IDs() []string {
	ids := make([]string, len(n.GPUs))
	for i, g := range n.GPUs {
		ids[i] = g.ID
	}
	return ids
}

// String returns a text such as "cpu=2,memory=8GiB", with sorted names; [Override] reads it.
func (n Node) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Amounts)) {
		parts = append(parts, name+"="+n.Amounts[name])
	}
	return strings.Join(parts, ",")
}

// Detect examines this machine. It asks nvidia-smi for GPUs, for at most ten seconds; if that is
// missing or fails there are none, and warning says why it failed.
func Detect(ctx context.Context) (n Node, warning string) {
	root := os.DirFS("/")
	n.Name, _ = os.Hostname()
	n.Amounts = map[string]string{"cpu": cpus(root, runtime.NumCPU())}
	if m := memory(root); m > 0 {
		n.Amounts["memory"] = strconv.FormatUint(m, 10)
	}
	all, err := queryGPUs(ctx)
	if err != nil {
		warning = err.Error()
	}
	visible, isSet := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	n.setGPUs(visibleGPUs(all, visible, isSet))
	return n, warning
}

// WithGPUs returns the node with only these GPUs.
func (n Node) WithGPUs(gpus []GPU) Node {
	n.Amounts = maps.Clone(n.Amounts)
	n.setGPUs(gpus)
	return n
}

func (n *Node) setGPUs(gpus []GPU) {
	n.GPUs = gpus
	delete(n.Amounts, "gpu")
	if len(gpus) > 0 {
		n.Amounts["gpu"] = strconv.Itoa(len(gpus))
	}
}

// cpus returns how many CPUs this process may use: those of its affinity, fewer if the control group
// has a quota, but at least one, so that a trial with the default request fits everywhere.
func cpus(root fs.FS, affinity int) string {
	milli := uint64(affinity) * 1000
	if q, ok := cpuQuotaMilli(root); ok {
		milli = min(milli, q)
	}
	return milliText(max(milli, 1000))
}

// milliText returns the decimal text of n thousandths.
func milliText(n uint64) string {
	s := fmt.Sprintf("%d.%03d", n/1000, n%1000)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// memory returns the machine's memory in bytes, less if the control group has a limit; 0 if it is
// unknown.
func memory(root fs.FS) uint64 {
	total := memTotal(root)
	if limit, ok := memoryLimit(root); ok && (total == 0 || limit < total) {
		total = limit
	}
	return roundDown(total)
}

// roundDown returns a readable number: whole GiB, or MiB on a small machine.
func roundDown(bytes uint64) uint64 {
	if bytes >= 4<<30 {
		return bytes >> 30 << 30
	}
	if bytes >= 1<<20 {
		return bytes >> 20 << 20
	}
	return bytes
}

func memTotal(root fs.FS) uint64 {
	b, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) >= 2 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseUint(f[1], 10, 54)
			return kib << 10
		}
	}
	return 0
}
