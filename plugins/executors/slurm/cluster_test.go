package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	slurmtest "github.com/tunehost/tunehost/internal/engines/slurm"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// TestCluster has all tests that need a real cluster. They share one.
func TestCluster(t *testing.T) {
	cluster := slurmtest.Start(t, slurmtest.Options{Nodes: 6})
	// Its checks have deadlines, so that nothing runs beside it.
	t.Run("conformance", func(t *testing.T) { testConformance(t, cluster) })
	for name, test := range map[string]func(*testing.T, *slurmtest.Cluster){
		"agents": testAgents, "gangs": testGangs, "spread": testSpread, "secret": testSecret, "refused": testRefused,
		"cancelled": testCancelled, "setup": testSetup, "preempted": testPreempted, "drained": testDrained,
		"cut off": testCutOff, "arrays": testArrays,
		"cancelled while it waits": testCancelledWaiting,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, cluster)
		})
	}
}

// The tests run in parallel. Some take a node away, so others must not need that node.
const (
	usual       = `{"args": ["--exclude=n[4-6]"]}`
	preemptible = `{"args": ["--nodelist=n4", "--exclusive"], "partition": "low"}`
	drainable   = `{"args": ["--nodelist=n5", "--exclusive"], "notice": 5}`
	severable   = `{"args": ["--nodelist=n6", "--exclusive"]}`
)

func testConformance(t *testing.T, c *slurmtest.Cluster) {
	conformance.RunExecutor(t, conformance.InProcess(Plugin), conformance.Options{Patience: 5, Options: json.RawMessage(
		`{"partition": "short", "time": "5m", "args": ["--nice=1", "--exclude=n[4-6]"]}`)})
}

// fakeAgent writes its arguments and environment, and waits.
const fakeAgent = `#!/bin/bash
[ "$1" = agent ] || exit 9
echo "$SLURMD_NODENAME gpus=${CUDA_VISIBLE_DEVICES-} value=$TUNEHOST_AGENT" > ` +
	`"$(dirname "$0")/$SLURM_JOB_NAME.$TUNEHOST_AGENT_BUNDLE.told"
mv "$(dirname "$0")/$SLURM_JOB_NAME.$TUNEHOST_AGENT_BUNDLE."{told,is}
while :; do sleep 1; done
`

// client is an executor on the cluster, with the events that it has sent.
type client struct {
	*executor
	t     *testing.T
	dir   string
	heard chan sdk.LeaseEvent
}

func newClient(t *testing.T, prefix, options string) *client {
	t.Helper()
	p := &client{t: t, dir: testplace.Short(t), heard: make(chan sdk.LeaseEvent, 1000)}
	program := filepath.Join(p.dir, "agent.sh")
	if err := os.WriteFile(program, []byte(fakeAgent), 0o755); err != nil {
		t.Fatal(err)
	}
	x := sdk.Execution{Experiment: "test", Dir: p.dir, Prefix: prefix, Agent: &sdk.Agent{Path: program}}
	made, traits, err := Plugin.Open(x, []byte(options), func(events ...sdk.LeaseEvent) {
		for _, e := range events {
			p.heard <- e
		}
	})
	if err != nil || !traits.Agents {
		t.Fatal(traits, err)
	}
	p.executor = made.(*executor)
	t.Cleanup(func() {
		if err := p.Adopt(context.Background(), nil); err != nil {
			t.Error(err)
		}
		p.Close()
	})
	p.must(p.Adopt(t.Context(), nil))
	return p
}

func (p *client) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// ask requests a lease.
func (p *client) ask(number int, strategy string, bundles ...sdk.LeaseBundle) string {
	p.t.Helper()
	name := fmt.Sprint(p.x.Prefix, number)
	p.must(p.Allocate(p.t.Context(), []sdk.LeaseRequest{{Lease: name, Strategy: strategy, Bundles: bundles,
		Agent: fmt.Sprint("s3cret'", number)}}))
	return name
}

// askAll requests several leases of one bundle in one call.
func (p *client) askAll(bundle sdk.LeaseBundle, numbers ...int) {
	p.t.Helper()
	list := make([]sdk.LeaseRequest, len(numbers))
	for i, n := range numbers {
		list[i] = sdk.LeaseRequest{Lease: fmt.Sprint(p.x.Prefix, n), Strategy: pack, Agent: fmt.Sprint("s3cret'", n),
			Bundles: []sdk.LeaseBundle{bundle}}
	}
	p.must(p.Allocate(p.t.Context(), list))
}

// hears waits for an event of a kind.
func (p *client) hears(kind sdk.LeaseEventKind) sdk.LeaseEvent {
	p.t.Helper()
	for {
		select {
		case e := <-p.heard:
			if e.Kind == kind {
				return e
			}
			if e.Kind == sdk.LeaseLost || e.Kind == sdk.LeaseRefused {
				p.t.Fatalf("%v: %s, waiting for %v", e.Kind, e.Why, kind)
			}
		case <-time.After(5 * time.Minute):
			p.t.Fatalf("no event %v", kind)
		}
	}
}

// told waits for what the agent of a bundle has written.
func (p *client) told(lease string, bundle int) string {
	p.t.Helper()
	path := filepath.Join(p.dir, fmt.Sprintf("%s.%d.is", lease, bundle))
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	log, _ := os.ReadFile(logPath(p.dir, lease))
	p.t.Fatalf("no agent for bundle %d of %s: %s", bundle, lease, log)
	return ""
}

// one is a bundle.
func one(cpu, gpu float64) sdk.LeaseBundle {
	return sdk.LeaseBundle{{Name: "cpu", Value: cpu}, {Name: "gpu", Value: gpu}, {Name: "memory", Value: 100 << 20}}
}

// agentsMatch compares what the agents of a lease have written with the grant.
func (p *client) agentsMatch(lease string, granted sdk.LeaseEvent, number int) {
	p.t.Helper()
	for i, b := range granted.Bundles {
		want := fmt.Sprintf("%s gpus=%s value=s3cret'%d", b.Node, strings.Join(b.Devices, ","), number)
		if got := p.told(lease, i); got != want {
			p.t.Errorf("the agent of bundle %d of %s was told %q, want %q", i, lease, got, want)
		}
	}
}

// B-134: the agent of a lease runs where the lease was granted, and another process of the plugin adopts it.
func testAgents(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-agents-", usual)
	name := p.ask(1, pack, one(2, 1))
	granted := p.hears(sdk.LeaseGranted)
	p.agentsMatch(name, granted, 1)
	p.must(p.Release(t.Context(), []string{name}))
	node := granted.Bundles[0].Node
	left := func() bool {
		own := func(line string) bool { return strings.Contains(line, p.dir) }
		return slices.ContainsFunc(c.Processes(t, node), own)
	}
	for end := time.Now().Add(5 * time.Minute); left(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is released, and on %s there is left: %q", node, c.Processes(t, node))
		}
	}
}

// Gangs are granted with the nodes and the GPUs that their agents see, in the order of the bundles.
func testGangs(t *testing.T, c *slurmtest.Cluster) {
	for i, g := range []struct {
		strategy string
		bundles  []sdk.LeaseBundle
		nodes    int // 0: any number
	}{
		{strictSpread, []sdk.LeaseBundle{one(1, 1), one(1, 1)}, 2},
		{strictPack, []sdk.LeaseBundle{one(1, 1), one(1, 1)}, 1},
		{strictPack, []sdk.LeaseBundle{one(1, 0), one(2, 2), one(1, 0)}, 1},
		{pack, []sdk.LeaseBundle{one(1, 1), one(1, 1), one(1, 1)}, 0},
		{spread, []sdk.LeaseBundle{one(2, 0), one(2, 0)}, 0},
		{strictSpread, []sdk.LeaseBundle{one(1, 0), one(2, 2), one(2, 2)}, 3},
	} {
		p := newClient(t, fmt.Sprintf("th-gang%d-", i), usual)
		name := p.ask(i, g.strategy, g.bundles...)
		granted := p.hears(sdk.LeaseGranted)
		nodes := map[string]bool{}
		for k, b := range granted.Bundles {
			nodes[b.Node] = true
			if len(b.Devices) != int(g.bundles[k].Get("gpu")) || !strings.HasPrefix(b.Address, "10.") {
				t.Errorf("bundle %d: %+v", k, b)
			}
		}
		if g.nodes != 0 && len(nodes) != g.nodes {
			t.Errorf("%s is on %d nodes: %v", g.strategy, len(nodes), granted.Bundles)
		}
		p.agentsMatch(name, granted, i)
		again := newExecutor(p.x, p.options, p.tell)
		p.must(again.Adopt(t.Context(), []string{name}))
		if e := p.hears(sdk.LeaseGranted); fmt.Sprint(e.Bundles) != fmt.Sprint(granted.Bundles) {
			t.Errorf("adopted as %v, and was granted as %v", e.Bundles, granted.Bundles)
		}
		again.Close()
		p.must(p.Adopt(t.Context(), nil))
	}
}

// Slurm spreads a gang over the nodes that are free at that moment, and those of a lease that has just ended
// may not be: one gang of several has to be on two nodes.
func testSpread(t *testing.T, _ *slurmtest.Cluster) {
	p := newClient(t, "th-spread-", usual)
	for i := range 20 {
		p.ask(i, spread, one(2, 0), one(2, 0))
		granted := p.hears(sdk.LeaseGranted)
		p.must(p.Adopt(t.Context(), nil))
		if granted.Bundles[0].Node != granted.Bundles[1].Node {
			return
		}
	}
	t.Error("no gang was spread")
}

// B-134: leases that ask for the same are tasks of one array. Each is granted, reached by steps, adopted, cancelled and
// released by itself.
func testArrays(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-arrays-", usual)
	p.askAll(one(5, 1), 1001, 1002, 1003, 1004) // one on each of three nodes
	var running []string
	for range 3 {
		granted := p.hears(sdk.LeaseGranted)
		number := 0
		_, _ = fmt.Sscanf(granted.Lease, p.x.Prefix+"%d", &number)
		p.agentsMatch(granted.Lease, granted, number)
		running = append(running, granted.Lease)
		p.must(p.take(t.Context()))
		place := p.leases[granted.Lease].parts[0]
		p.pass()
		place.node = granted.Bundles[0].Node
		got := c.Run(t, "srun", append(place.arguments(noVariable), "/usr/bin/printenv", "SLURMD_NODENAME")...)
		if got != place.node {
			t.Errorf("a step beside %s runs on %q, want %s", granted.Lease, got, place.node)
		}
	}
	list := c.Run(t, "squeue", "--array", "--noheader", "--format=%i", "--name=th-arrays-1000+")
	if tasks := strings.Fields(list); len(tasks) != 4 || !strings.Contains(list, "_4") {
		t.Error(tasks)
	}
	p.Close()
	again := begin(newExecutor(p.x, p.options, p.tell))
	defer again.Close()
	keep := slices.DeleteFunc([]string{"th-arrays-1001", "th-arrays-1002", "th-arrays-1003", "th-arrays-1004"},
		func(name string) bool { return name == running[0] })
	p.must(again.Adopt(t.Context(), keep))
	for range keep { // the node of the one that is cancelled is free for the one that has waited
		p.hears(sdk.LeaseGranted)
	}
	p.must(again.Release(t.Context(), keep[:1]))
	p.must(again.take(t.Context()))
	job := again.leases[keep[1]].job
	again.pass()
	c.Run(t, "scancel", job)
	if e := p.hears(sdk.LeaseLost); e.Lease != keep[1] || !strings.Contains(e.Why, "cancelled, by scancel") {
		t.Error(e)
	}
}

// B-137: another user of the cluster cannot find the secret of a lease.
func testSecret(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-secret-", usual)
	p.ask(7, strictSpread, one(1, 0), one(1, 0))
	p.askAll(one(1, 0), 11, 12, 13, 14)
	p.told("th-secret-11", 0)
	p.told("th-secret-7", 0)
	p.told("th-secret-7", 1)
	look := `squeue -o %all; scontrol show job -dd; scontrol show step; sinfo -o %all; ps axewwo args; ` +
		`id=$(squeue -h -o %A | head -1); scontrol write batch_script $id -; ` +
		`find ` + filepath.Dir(c.Conf) + ` ` + p.dir + ` /tmp /var/spool -type f -readable -size -1000k -newer ` +
		c.Conf + ` -exec grep -a . {} + 2>/dev/null; cat /proc/[0-9]*/environ | tr '\0' '\n'`
	cmd := exec.CommandContext(t.Context(), "bash", "-c", look)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, _ := cmd.CombinedOutput() // some of it is refused
	if !strings.Contains(string(out), "th-secret-7") {
		t.Fatalf("the other user sees no job: %s", out)
	}
	if at := strings.Index(string(out), "s3cret"); at >= 0 {
		t.Errorf("another user sees the secret: …%s", out[max(0, at-200):at+20])
	}
}

// B-135: a lease that can never be granted is refused in Slurm's words.
func testRefused(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-refused-", usual)
	for i, r := range []struct {
		amount sdk.Amount
		want   string
	}{
		{sdk.Amount{Name: "memory", Value: 1 << 50}, "sbatch: error: .*Memory specification can not be satisfied"},
		{sdk.Amount{Name: "licence", Value: 1}, "sbatch: error: Invalid generic resource .gres. specification"},
		{sdk.Amount{Name: "gpu", Value: 3}, "sbatch: .*Requested node configuration is not available"},
	} {
		p.ask(i, pack, sdk.LeaseBundle{r.amount})
		if e := p.hears(sdk.LeaseRefused); !regexp.MustCompile(r.want).MatchString(e.Why) {
			t.Errorf("%v: %s", r.amount, e.Why)
		}
	}
	p = newClient(t, "th-refused2-", `{"partition": "nope"}`)
	p.ask(1, pack, one(1, 0))
	if e := p.hears(sdk.LeaseRefused); !strings.Contains(e.Why, "invalid partition specified: nope") {
		t.Error(e)
	}
}

// The lease of a job that somebody cancels is lost, with Slurm's message.
func testCancelled(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-cancelled-", usual)
	name := p.ask(1, pack, one(1, 0))
	p.hears(sdk.LeaseGranted)
	c.Run(t, "scancel", "--name="+name)
	if e := p.hears(sdk.LeaseLost); !strings.Contains(e.Why, "cancelled, by scancel or an administrator") {
		t.Error(e.Why)
	}
}

// A job that somebody cancels while it waits is lost with Slurm's word. So is a task, of which Slurm keeps no record,
// the last task of its array, and each task of an array that is cancelled by its name.
func testCancelledWaiting(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-waiting-", `{"args": ["--begin=now+1hour"]}`)
	lost := func(want int) {
		t.Helper()
		for range want {
			if e := p.hears(sdk.LeaseLost); !strings.HasPrefix(e.Why, cancelledWaiting) {
				t.Errorf("%s: %s", e.Lease, e.Why)
			}
		}
	}
	waits := func(leases int) {
		t.Helper()
		for seen := map[string]bool{}; len(seen) < leases; {
			seen[p.hears(sdk.LeasePending).Lease] = true
		}
	}
	single := p.ask(1, pack, one(1, 0))
	p.askAll(one(1, 0), 1001, 1002, 1003, 1004)
	waits(5)
	c.Run(t, "scancel", "--name="+single)
	lost(1)
	p.must(p.take(t.Context()))
	array, _, _ := strings.Cut(p.leases["th-waiting-1001"].job, taskMark)
	p.pass()
	c.Run(t, "scancel", array+"_1")
	lost(1)
	c.Run(t, "scancel", array+"_[2-3]")
	lost(2)
	c.Run(t, "scancel", array+"_4")
	lost(1)
	p.askAll(one(1, 0), 2001, 2002, 2003, 2004)
	waits(4)
	c.Run(t, "scancel", "--name=th-waiting-2000+")
	lost(4)
}

// The setup runs before the agent; when it fails, the loss says at which line.
func testSetup(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-setup-", `{"args": ["--exclude=n[4-6]"],
		"setup": "export CUDA_VISIBLE_DEVICES=from-setup\ntrue"}`)
	if got := p.told(p.ask(1, pack, one(1, 0)), 0); !strings.Contains(got, "gpus=from-setup") {
		t.Error(got)
	}
	p = newClient(t, "th-setup2-", `{"args": ["--exclude=n[4-6]"], "setup": "cd /\ncat no-such-file"}`)
	p.ask(1, pack, one(1, 0))
	if e := p.hears(sdk.LeaseLost); !strings.Contains(e.Why, "the setup failed at: cat no-such-file") {
		t.Error(e.Why)
	}
}

// B-132: preemption is noticed in time, also of a job without a time limit.
func testPreempted(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-preempted-", preemptible)
	p.ask(1, pack, one(1, 0))
	p.hears(sdk.LeaseGranted)
	id := c.Run(t, "sbatch", "--parsable", "-w", "n4", "-o", "/dev/null", "--wrap", "sleep 3600")
	defer c.Run(t, "scancel", id)
	if e := p.hears(sdk.LeaseEnding); !strings.Contains(e.Why, "Slurm preempts the job") { // before it ends
		t.Error(e.Why)
	}
}

// A lease on a node that is drained ends, so that the node can be repaired.
func testDrained(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-drained-", drainable)
	p.ask(1, pack, one(1, 0))
	node := p.hears(sdk.LeaseGranted).Bundles[0].Node
	c.Run(t, "scontrol", "update", "NodeName="+node, "State=DRAIN", "Reason=a fan is broken")
	defer c.Run(t, "scontrol", "update", "NodeName="+node, "State=RESUME")
	if e := p.hears(sdk.LeaseEnding); !strings.Contains(e.Why, "is being drained: a fan is broken") {
		t.Error(e.Why)
	}
}

// B-133: Slurm's own notice of a node that is cut off.
func testCutOff(t *testing.T, c *slurmtest.Cluster) {
	p := newClient(t, "th-cut-", severable)
	p.ask(1, pack, one(1, 0))
	node := p.hears(sdk.LeaseGranted).Bundles[0].Node
	c.Cut(t, node)
	defer c.Heal(t, node)
	if e := p.hears(sdk.LeaseLost); !strings.Contains(e.Why, "NODE_FAIL") {
		t.Error(e.Why)
	}
}
