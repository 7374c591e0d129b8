package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/engines/slurm"
)

// TestSlurmStdioSteps has steps of an allocation whose agents are reached through srun. When the host has ended,
// nothing of its leases is left on the nodes: no step, no bridge, no socket. It has finished, or was interrupted.
func TestSlurmStdioSteps(t *testing.T) {
	cluster := slurm.Start(t, slurm.Options{Nodes: 2})
	bin := builtHere(t)
	id := cluster.Run(t, "sbatch", "--parsable", "--time=10", "--nodes=2", "--ntasks-per-node=2", "--mem=500",
		"--output=/dev/null", "--wrap", "sleep 600")
	t.Setenv("SLURM_JOB_ID", id)
	for name, results := range map[string]int{"finished": 3, "interrupted": 600} {
		t.Run(name, func(t *testing.T) {
			e := &ending{t: t, c: cluster, dir: t.TempDir(), bin: bin}
			e.until("the allocation runs", func() bool {
				return cluster.Run(t, "squeue", "-h", "-j", id, "-o", "%T") == "RUNNING"
			})
			e.writes(lasting, "@N@", strconv.Itoa(results), "@MORE@", ", connection: stdio")
			host := e.command("run", "lasting.yaml")
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			if name == "interrupted" {
				e.interrupts(host)
			}
			_ = host.Wait()
			e.leavesNothing(id)
		})
	}
}

// interrupts ends a host whose trials have run for some time.
func (e *ending) interrupts(host *exec.Cmd) {
	e.t.Helper()
	defer func() { _ = host.Process.Signal(syscall.SIGINT) }()
	e.until("results of both trials", func() bool {
		return strings.Count(e.says("journal", "results/lasting"), "result reported") > 15
	})
}

// leavesNothing checks that nothing of the leases is left in an allocation. Slurm takes a moment to forget a step.
func (e *ending) leavesNothing(allocation string) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, "results", "lasting", "run.json"))
	var run struct {
		ID string `json:"run_id"`
	}
	if err != nil || json.Unmarshal(text, &run) != nil || len(run.ID) < 16 {
		e.t.Fatal(err, string(text))
	}
	left := func() string {
		sockets, _ := filepath.Glob("/tmp/th-" + run.ID[:16] + "-*")
		bridges, _ := exec.Command("pgrep", "-af", "^"+e.bin+" agent").Output()
		steps := e.c.Run(e.t, "squeue", "-h", "--steps", "--jobs="+allocation, "--format=%i %j")
		return relevant(append(sockets, strings.Split(string(bridges)+"\n"+steps, "\n")...))
	}
	last := ""
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if last = left(); last == "" {
			return
		}
	}
	e.t.Errorf("it left:\n%s\n%s", last, e.says("journal", "results/lasting"))
}

// relevant returns the lines that name something of a lease: not the steps of the allocation itself.
func relevant(lines []string) string {
	text := ""
	for _, l := range lines {
		if l != "" && !strings.HasSuffix(l, " batch") && !strings.HasSuffix(l, " extern") {
			text += l + "\n"
		}
	}
	return text
}
