package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// withAgents is a cluster of one node whose agents say what they were started with, and wait.
func withAgents(t *testing.T, options string) *desk {
	t.Helper()
	d := begin(t, options)
	d.dir = t.TempDir()
	d.agent.Path = filepath.Join(d.dir, "agent.sh")
	script := "#!/bin/sh\n[ \"$TUNEHOST_AGENT\" = none ] && exit 1\n" +
		"echo $1 $TUNEHOST_AGENT $TUNEHOST_AGENT_BUNDLE gpus $CUDA_VISIBLE_DEVICES\nexec sleep 1000\n"
	d.must(os.WriteFile(d.agent.Path, []byte(script), 0o700))
	t.Cleanup(func() {
		for _, list := range d.agents() {
			for _, p := range list {
				p.signal(syscall.SIGKILL)
			}
		}
	})
	return d
}

// agents are those in the cluster's file.
func (d *desk) agents() (all map[string][]process) {
	d.must(d.update(func(c *cluster) { all = c.Agents }))
	return all
}

// asks asks for a lease with the secret of its agents.
func (d *desk) asks(lease, secret string, bundles ...sdk.LeaseBundle) {
	d.t.Helper()
	r := sdk.LeaseRequest{Lease: lease, Bundles: bundles, Strategy: "pack", Agent: secret}
	d.must(d.Allocate(d.t.Context(), []sdk.LeaseRequest{r}))
}

// until moves the clock until something holds: processes start and end in their own time.
func (d *desk) until(what func() bool) {
	d.t.Helper()
	for !what() {
		d.pass(checkEvery)
		if d.t.Context().Err() != nil {
			d.t.Fatal("it did not happen")
		}
	}
}

// Each bundle of a lease is a process that has what the host gave for it, and ends with the lease.
func TestAgents(t *testing.T) {
	d := withAgents(t, `{"nodes": 1, "cpu": 2, "gpu": 2, "agents": true}`)
	gpu := sdk.LeaseBundle{{Name: "gpu", Value: 1}}
	d.asks("a-1", "secret", gpu, gpu)
	list := d.agents()["a-1"]
	if len(list) != 2 {
		t.Fatal(list)
	}
	log := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(d.dir, agentDir, name))
		return string(text)
	}
	d.until(func() bool {
		return log("a-1.0.log") == "agent secret 0 gpus 0\n" && log("a-1.1.log") == "agent secret 1 gpus 1\n"
	})
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", list[0].PID))
	if err == nil && strings.Contains(string(text), fmt.Sprintf(") S %d ", os.Getpid())) {
		t.Error("an agent is a child of the plugin: it would end with it")
	}
	d.must(d.Release(t.Context(), []string{"a-1"}))
	d.until(func() bool { return len(d.agents()) == 0 })
	for _, p := range list {
		if p.alive() {
			t.Error("process", p.PID, "runs")
		}
	}
}

// A lease whose agent ends is lost, and its other agents end.
func TestAgentEnds(t *testing.T) {
	d := withAgents(t, `{"nodes": 1, "cpu": 2, "agents": true}`)
	cpu := sdk.LeaseBundle{{Name: "cpu", Value: 1}}
	d.asks("a-1", "secret", cpu, cpu)
	d.agents()["a-1"][0].signal(syscall.SIGKILL)
	d.until(func() bool { return len(d.agents()) == 0 })
	if last := d.heard[len(d.heard)-1]; last != "a-1 lost: its agent on the node fake-1 has ended" {
		t.Error(d.heard)
	}
	d.asks("a-2", "none", cpu)
	d.until(func() bool { return strings.HasPrefix(d.heard[len(d.heard)-1], "a-2 lost") })
}

// The agents of a lost node end; those of a node that is cut off stop for a while, and the engine does not
// notice.
func TestNodesOfAgents(t *testing.T) {
	d := withAgents(t, `{"nodes": 1, "cpu": 2, "repair": 30, "agents": true}`)
	d.asks("a-1", "secret", sdk.LeaseBundle{{Name: "cpu", Value: 1}})
	p := d.agents()["a-1"][0]
	d.must(d.update(func(c *cluster) {
		c.Down[0] = c.Now + int64(30*time.Second)
		c.nodeLost(&d.options, 0, cutting, "cut off")
	}))
	if d.agents()["a-1"][0].Cut == 0 || len(d.heard) != 1 {
		t.Error(d.heard)
	}
	d.pass(31 * time.Second)
	d.must(d.update(nil))
	if d.agents()["a-1"][0].Cut != 0 || !p.alive() {
		t.Error("it is cut off still")
	}
	d.must(d.update(func(c *cluster) { c.nodeLost(&d.options, 0, "lose", "the node fake-1 failed") }))
	d.until(func() bool { return !p.alive() })
	if last := d.heard[len(d.heard)-1]; last != "a-1 lost: the node fake-1 failed" {
		t.Error(d.heard)
	}
}

// Agents outlive the plugin's process: the next one finds them.
func TestAgentsOutlive(t *testing.T) {
	d := withAgents(t, `{"nodes": 1, "cpu": 2, "agents": true}`)
	d.asks("a-1", "secret", sdk.LeaseBundle{{Name: "cpu", Value: 1}})
	first := d.agents()["a-1"][0]
	next := open(t, d.State, "a-", `{"nodes": 1, "cpu": 2, "agents": true}`)
	next.clock = d.clock
	next.must(next.Adopt(t.Context(), []string{"a-1"}))
	if list := next.agents()["a-1"]; len(list) != 1 || list[0] != first || !list[0].alive() {
		t.Error(list, first)
	}
	next.must(next.Release(t.Context(), []string{"a-1"}))
	d.until(func() bool { return !first.alive() })
}

// A link in the place of the folder of output is refused before anything is written; one in the place of an
// agent's output loses its lease, with the reason.
func TestLinksOfAgents(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	err := os.Symlink(other, filepath.Join(dir, agentDir))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Plugin.Open(sdk.Execution{Dir: dir, Prefix: "a-", Agent: &sdk.Agent{Path: "/bin/true"}},
		[]byte(`{"agents": true}`), func(...sdk.LeaseEvent) {})
	if err == nil || !strings.Contains(err.Error(), agentDir+" must be a folder that only its owner can read: ") {
		t.Error(err)
	}
	d := withAgents(t, `{"nodes": 1, "cpu": 2, "agents": true}`)
	d.must(os.Mkdir(filepath.Join(d.dir, agentDir), 0o700))
	log := filepath.Join(d.dir, agentDir, "a-1.0.log")
	d.must(os.Symlink(filepath.Join(other, "log"), log))
	d.asks("a-1", "secret", sdk.LeaseBundle{{Name: "cpu", Value: 1}})
	d.says("a-1 lost: its agent cannot be started: " + log +
		" is a link: tunehost has a file of that name; move it away")
	if list, err := os.ReadDir(other); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}
