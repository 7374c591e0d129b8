package slurm

import (
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	slurmtest "github.com/tunehost/tunehost/internal/engines/slurm"
)

// TestAllocation runs the suite with an allocation as the pool.
func TestAllocation(t *testing.T) {
	c := slurmtest.Start(t, slurmtest.Options{Nodes: 2})
	id := c.Run(t, "sbatch", "--parsable", "--nodes=2", "--ntasks-per-node=4", "--mem=2000", "--gres=gpu:2",
		"--time=10", "--output=/dev/null", "--wrap", "sleep 600")
	for end := time.Now().Add(time.Minute); c.Run(t, "squeue", "-h", "-j", id, "-o", "%T") != "RUNNING"; {
		if time.Now().After(end) {
			t.Fatal("the allocation does not start")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Setenv("SLURM_JOB_ID", id)
	conformance.RunExecutor(t, conformance.InProcess(Plugin), conformance.Options{Patience: 5})
}
