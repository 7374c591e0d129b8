package torture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/engines/slurm"
)

// engine is the cluster of all experiments, and who breaks it.
type engine struct {
	*slurm.Cluster
	nodes []string

	mu sync.Mutex
	// broken are the nodes that something is wrong with, and "" while the controller is down.
	broken map[string]bool
}

// maxBroken is how many nodes are broken at a time: others are needed for the experiments.
const maxBroken = 4

func newEngine(t *testing.T, c *slurm.Cluster) *engine {
	t.Helper()
	e := &engine{Cluster: c, broken: map[string]bool{}}
	for i := range 8 {
		e.nodes = append(e.nodes, fmt.Sprint("n", i+1))
	}
	return e
}

// repairs are what is still to be mended of what an experiment has suffered.
type repairs struct{ sync.WaitGroup }

func (r *repairs) wait() { r.WaitGroup.Wait() }

// after mends something after a while.
func (r *repairs) after(d time.Duration, mend func()) {
	r.Add(1)
	time.AfterFunc(d, func() {
		defer r.Done()
		mend()
	})
}

// environment is what commands of an experiment need to use the cluster, by way of the wrappers.
func (e *engine) environment(x *experiment) []string {
	return []string{"SLURM_CONF=" + e.Conf, "PATH=" + filepath.Join(x.root, "bin") + ":" + os.Getenv("PATH")}
}

// wrapper is a command of Slurm that misbehaves as often as the file mood says, in percent: it fails, hangs, prints
// something else or only a part, before or after it has done its work.
const wrapper = `#!/bin/bash
PATH=${PATH#*:} # the real ones
read -r mood < @ROOT@/mood 2>/dev/null || mood=0
((RANDOM % 100 < mood)) || exec @NAME@ "$@"
sort=$((RANDOM % 7))
echo "@NAME@ $sort $*" >> @ROOT@/moods
case $sort in
0) echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1 ;;
1) exec sleep 600 ;;
2) @NAME@ "$@" > /dev/null 2>&1; exec sleep 600 ;;
3) @NAME@ "$@" > /dev/null 2>&1; echo "@NAME@: error: Socket timed out on send/recv operation" >&2; exit 1 ;;
4) echo "<html>503 Service Unavailable</html>"; exit @STATUS@ ;;
5) @NAME@ "$@" 2>/dev/null | head -c 100; exit 0 ;;
6) sleep 2; exec @NAME@ "$@" ;;
esac
`

// wrap writes the wrappers of an experiment.
func (e *engine) wrap(t testing.TB, x *experiment) {
	t.Helper()
	must(t, os.Mkdir(filepath.Join(x.root, "bin"), 0o755))
	for _, name := range []string{"sbatch", "squeue", "scancel", "scontrol", "sinfo"} {
		status := "0"
		if name == "scancel" { // it has done nothing, and prints nothing if it has
			status = "1"
		}
		text := strings.NewReplacer("@ROOT@", x.root, "@NAME@", name, "@STATUS@", status).Replace(wrapper)
		must(t, os.WriteFile(filepath.Join(x.root, "bin", name), []byte(text), 0o755))
	}
	x.mood(t, 0)
	x.giveAway(t)
}

// mood says how often commands misbehave, in percent.
func (x *experiment) mood(t testing.TB, percent int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(x.root, "mood"), fmt.Appendln(nil, percent), 0o644); err != nil {
		t.Error(err)
	}
}

// calm waits until all is well with the cluster.
func (e *engine) calm(t testing.TB, x *experiment) {
	t.Helper()
	x.mood(t, 0)
	for end := time.Now().Add(patience); ; time.Sleep(500 * time.Millisecond) {
		out, _ := e.try("sinfo", "-h", "-N", "-p", "main", "-t", "idle,mix,alloc,comp", "-o", "%N")
		if len(strings.Fields(out)) >= len(e.nodes)-e.count() {
			return
		}
		if time.Now().After(end) {
			out, _ := e.try("sinfo", "-N", "-l")
			t.Fatalf("the cluster has not come back:\n%s", out)
		}
		for _, node := range e.nodes {
			if !e.isBroken(node) {
				_, _ = e.try("scontrol", "update", "NodeName="+node, "State=RESUME")
			}
		}
	}
}

// try runs a command as the administrator, which may fail while the controller is down.
func (e *engine) try(name string, args ...string) (string, error) {
	cmd := exec.Command("timeout", append([]string{"10", name}, args...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+e.Conf)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// claim has a node, or "" for the controller, broken by one only.
func (e *engine) claim(node string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken[node] || node != "" && len(e.broken) >= maxBroken {
		return false
	}
	e.broken[node] = true
	return true
}

func (e *engine) mended(node string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.broken, node)
}

func (e *engine) isBroken(node string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken[node]
}

func (e *engine) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.broken)
}

// used draws a node, most often one that the experiment uses.
func (e *engine) used(x *experiment, rng *rand.Rand) string {
	var own []string
	out, _ := e.try("squeue", "-h", "-t", "RUNNING", "-o", "%Z %B")
	for line := range strings.Lines(out) {
		if dir, node, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(dir, x.root) {
			own = append(own, node)
		}
	}
	if len(own) == 0 || rng.IntN(5) == 0 {
		own = e.nodes
	}
	return own[rng.IntN(len(own))]
}

// engineFault is something that happens to the cluster, or to the part of it that an experiment uses.
type engineFault struct {
	name   string
	weight int
	do     func(testing.TB, *engine, *experiment, *rand.Rand, *repairs) (done bool)
}

var engineFaults = []engineFault{
	{"node cut off", 7, cutNode},
	{"slurmd killed", 5, killSlurmd},
	{"slurmctld killed", 4, killController},
	{"job cancelled", 6, cancelJob},
	{"job killed by signal", 2, signalJob},
	{"job suspended", 1, suspendJob},
	{"job requeued by an administrator", 1, requeueJob},
	{"job given less time", 1, shortenJob},
	{"node drained", 4, setNode("DRAIN", "State=DRAIN", "Reason=chaos")},
	{"node set down", 3, setNode("DOWN", "State=DOWN", "Reason=chaos")},
	{"agent killed", 4, signalAgent(syscall.SIGKILL)},
	{"agent terminated", 2, signalAgent(syscall.SIGTERM)},
	{"agent frozen", 3, freezeAgent},
	{"commands misbehave", 7, badCommands},
	{"nodes wanted by others", 3, preempt},
}

// hostFaults are the faults of hosts that hosts on an engine suffer as well, by how often.
var hostFaults = map[string]int{"kill host": 12, "kill group": 3, "kill host and reaper": 2, "kill searcher": 2,
	"kill scheduler": 2, "freeze host": 3, "interrupt": 3, "second host": 1, "full disk": 16}

// inflict draws a fault, of the host or of the cluster.
func (e *engine) inflict(t testing.TB, h *host, rng *rand.Rand, r *repairs) {
	sum := 0
	for _, f := range engineFaults {
		sum += f.weight
	}
	for _, f := range faults {
		sum += f.oddsOnEngine(h.x)
	}
	n := rng.IntN(sum)
	for _, f := range engineFaults {
		if n -= f.weight; n < 0 {
			if f.do(t, e, h.x, rng, r) {
				h.did(f.name)
				h.x.note(f.name)
			}
			return
		}
	}
	for _, f := range faults {
		if n -= f.oddsOnEngine(h.x); n < 0 {
			h.x.note(f.name)
			h.inflict(t, f, rng)
			return
		}
	}
}

func (f fault) oddsOnEngine(x *experiment) int {
	if f.odds(x) == 0 {
		return 0
	}
	return hostFaults[f.name]
}

// note writes what happened when, for people who look at a failed experiment.
func (x *experiment) note(what string) {
	f, err := os.OpenFile(filepath.Join(x.root, "faults"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		fmt.Fprintln(f, time.Now().Format("15:04:05.000"), what)
		_ = f.Close()
	}
}

func between(rng *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(rng.Int64N(int64(to-from)))
}

func cutNode(t testing.TB, e *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
	node := e.used(x, rng)
	if !e.claim(node) {
		return false
	}
	x.note("cut off: " + node)
	e.Cut(t, node)
	r.after(between(rng, time.Second, 25*time.Second), func() {
		e.Heal(t, node)
		x.note("healed: " + node)
		e.mended(node)
	})
	return true
}

func killSlurmd(t testing.TB, e *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
	node := e.used(x, rng)
	if !e.claim(node) {
		return false
	}
	x.note("slurmd killed: " + node)
	e.KillDaemon(t, node)
	r.after(between(rng, 500*time.Millisecond, 20*time.Second), func() {
		e.StartDaemon(t, node)
		time.Sleep(time.Second) // until its file has its number
		e.mended(node)
	})
	return true
}

func killController(t testing.TB, e *engine, _ *experiment, rng *rand.Rand, r *repairs) bool {
	if !e.claim("") {
		return false
	}
	e.KillController(t)
	r.after(between(rng, 500*time.Millisecond, 12*time.Second), func() {
		e.StartController(t)
		time.Sleep(time.Second)
		e.mended("")
	})
	return true
}

// job draws a job of the experiment.
func (e *engine) job(x *experiment, rng *rand.Rand) string {
	var own []string
	out, _ := e.try("squeue", "-h", "--array", "-t", "RUNNING,PENDING", "-o", "%Z %A %F %K")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 4 && strings.HasPrefix(f[0], x.root) {
			id := f[1]
			if f[3] != "N/A" { // the task of an array: the number of the last one is the array's
				id = f[2] + "_" + f[3]
			}
			own = append(own, id)
		}
	}
	if len(own) == 0 {
		return ""
	}
	return own[rng.IntN(len(own))]
}

// toJob does something to a job with a command of Slurm.
func (e *engine) toJob(x *experiment, rng *rand.Rand, name string, args ...string) bool {
	id := e.job(x, rng)
	if id == "" {
		return false
	}
	x.note(fmt.Sprint(name, " ", args, " ", id))
	args = slices.Clone(args)
	if last := len(args) - 1; last >= 0 && strings.HasSuffix(args[last], "=") {
		args[last] += id
	} else {
		args = append(args, id)
	}
	_, err := e.try(name, args...)
	return err == nil
}

func cancelJob(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
	return e.toJob(x, rng, "scancel")
}

func signalJob(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
	return e.toJob(x, rng, "scancel", [][]string{{"--signal=KILL"}, {"--signal=TERM", "--full"},
		{"--batch", "--signal=TERM"}, {"--full", "--signal=KILL"}}[rng.IntN(4)]...)
}

func suspendJob(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
	return e.toJob(x, rng, "scontrol", "suspend")
}

func requeueJob(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
	return e.toJob(x, rng, "scontrol", "requeue")
}

func shortenJob(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
	return e.toJob(x, rng, "scontrol", "update", "TimeLimit=1", "JobId=")
}

// setNode is an administrator who takes a node away for a while.
func setNode(_ string, how ...string) func(testing.TB, *engine, *experiment, *rand.Rand, *repairs) bool {
	return func(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
		node := e.used(x, rng)
		if !e.claim(node) {
			return false
		}
		x.note(fmt.Sprint(how, " ", node))
		_, err := e.try("scontrol", append([]string{"update", "NodeName=" + node}, how...)...)
		r.after(between(rng, 2*time.Second, 20*time.Second), func() {
			_, _ = e.try("scontrol", "update", "NodeName="+node, "State=RESUME")
			e.mended(node)
		})
		return err == nil
	}
}

// agents are the processes of the experiment's agents.
func (x *experiment) agents() (list []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if !bytes.HasSuffix(cmdline, []byte("/tunehost\x00agent\x00")) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if bytes.Contains(environ, []byte("SLURM_SUBMIT_DIR="+x.root)) {
			list = append(list, pid)
		}
	}
	return list
}

func signalAgent(s syscall.Signal) func(testing.TB, *engine, *experiment, *rand.Rand, *repairs) bool {
	return func(_ testing.TB, _ *engine, x *experiment, rng *rand.Rand, _ *repairs) bool {
		list := x.agents()
		return len(list) > 0 && syscall.Kill(list[rng.IntN(len(list))], s) == nil
	}
}

func freezeAgent(_ testing.TB, _ *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
	list := x.agents()
	if len(list) == 0 {
		return false
	}
	pid := list[rng.IntN(len(list))]
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return false
	}
	r.after(between(rng, time.Second, 12*time.Second), func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	return true
}

func badCommands(t testing.TB, _ *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
	x.mood(t, 20+rng.IntN(60))
	r.after(between(rng, 3*time.Second, 20*time.Second), func() { x.mood(t, 0) })
	return true
}

// preempt has somebody else want whole nodes for a while, in a partition that preempts others.
func preempt(_ testing.TB, e *engine, x *experiment, rng *rand.Rand, r *repairs) bool {
	node := e.used(x, rng)
	id, err := e.try("sbatch", "--parsable", "-p", "main", "-w", node, "--exclusive", "-o", "/dev/null", "--chdir=/",
		"--time=2", "--wrap", "sleep 15")
	if err != nil {
		return false
	}
	x.note("preempted on " + node)
	r.after(between(rng, 5*time.Second, 40*time.Second), func() { _, _ = e.try("scancel", id) })
	return true
}
