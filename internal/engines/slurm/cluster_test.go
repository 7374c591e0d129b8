package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCluster: the nodes run jobs, with GPUs, and nothing is left afterwards.
func TestCluster(t *testing.T) {
	var c *Cluster
	t.Run("up", func(t *testing.T) {
		c = Start(t, Options{Nodes: 2})
		got := c.Run(t, "srun", "-N2", "--gres=gpu:1", "sh", "-c", "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES")
		if fields := strings.Fields(got); len(fields) != 4 || !strings.Contains(got, "n1 0") {
			t.Error(got)
		}
		c.Run(t, "sbatch", "-N2", "-o", "/dev/null", "--wrap", "srun sleep 1234")
	})
	if c == nil {
		return // the test above says what is missing
	}
	if _, err := os.Stat(c.dir); err == nil {
		t.Error(c.dir, "is left")
	}
	if out, err := exec.Command("ip", "link", "show", c.bridge).CombinedOutput(); err == nil {
		t.Errorf("a bridge is left: %s", out)
	}
	if out, _ := exec.Command("ip", "netns").CombinedOutput(); strings.Contains(string(out), c.bridge) {
		t.Errorf("namespaces are left: %s", out)
	}
	for _, left := range running(t, c.dir) {
		t.Error("a process is left: ", left)
	}
}

// running lists the processes that name a folder in their environment or command line.
func running(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		environment, _ := os.ReadFile(filepath.Join(p, "environ"))
		command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.Contains(string(environment)+string(command), dir) {
			list = append(list, p+" "+string(command))
		}
	}
	return list
}
