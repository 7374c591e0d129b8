package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	slurmtest "github.com/tunehost/tunehost/internal/engines/slurm"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
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
	t.Run("without GPUs", testStepsWithoutGPUs)
	t.Run("setup", testSetupOfSteps)
	conformance.RunExecutor(t, conformance.InProcess(Plugin), conformance.Options{Patience: 5})
}

// Steps that request no GPU run beside each other on a node whose GPUs belong to the allocation, and one that
// requests GPUs gets them beside these.
func testStepsWithoutGPUs(t *testing.T) {
	heard := make(chan sdk.LeaseEvent, 1000)
	x := sdk.Execution{Experiment: "test", Dir: testplace.Short(t), Prefix: "th-nogpu-"}
	e, _, err := Plugin.Open(x, json.RawMessage(`{"args": ["--nodelist=n1"]}`), func(events ...sdk.LeaseEvent) {
		for _, event := range events {
			heard <- event
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.(io.Closer).Close() }()
	if err := e.Adopt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Adopt(context.Background(), nil); err != nil {
			t.Error(err)
		}
	}()
	gpus := []float64{0, 0, 2}
	for i, n := range gpus {
		if err := e.Allocate(t.Context(), []sdk.LeaseRequest{{Lease: fmt.Sprint(x.Prefix, i), Strategy: pack,
			Bundles: []sdk.LeaseBundle{one(1, n)}}}); err != nil {
			t.Fatal(err)
		}
	}
	devices := map[string]int{}
	for late := time.After(time.Minute); len(devices) < len(gpus); {
		select {
		case event := <-heard:
			if event.Kind == sdk.LeaseGranted {
				devices[event.Lease] = len(event.Bundles[0].Devices)
			}
		case <-late:
			t.Fatalf("only these leases run: %v", devices)
		}
	}
	for i, n := range gpus {
		if got := devices[fmt.Sprint(x.Prefix, i)]; got != int(n) {
			t.Errorf("a step that requests %v GPUs got %d", n, got)
		}
	}
}

// A setup that fails on one node ends the lease there, and the experiment goes on; a request that Slurm cannot fulfil
// is refused.
func testSetupOfSteps(t *testing.T) {
	heard := make(chan sdk.LeaseEvent, 1000)
	x := sdk.Execution{Experiment: "test", Dir: testplace.Short(t), Prefix: "th-setup-"}
	for lease, c := range map[string]struct {
		options, want string
		kind          sdk.LeaseEventKind
	}{
		"th-setup-1": {`{"setup": "cd /\ntest $SLURMD_NODENAME != n1", "args": ["--nodelist=n1"]}`,
			"the setup failed at: test $SLURMD_NODENAME != n1 (exit status 1) on the node n1", sdk.LeaseLost},
		"th-setup-2": {`{"setup": "test $SLURMD_NODENAME != n1", "args": ["--nodelist=n2"]}`, "", sdk.LeaseGranted},
		"th-setup-3": {`{"setup": "true", "args": ["--nodelist=n99"]}`, "srun: error: ", sdk.LeaseRefused},
		"th-setup-4": {`{"setup": "nosuch one"}`, "the setup failed at: nosuch one (exit status 127) on the node n",
			sdk.LeaseLost},
	} {
		e, _, err := Plugin.Open(x, json.RawMessage(c.options), func(events ...sdk.LeaseEvent) {
			for _, event := range events {
				heard <- event
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(e.Adopt(t.Context(), nil), e.Allocate(t.Context(), []sdk.LeaseRequest{{Lease: lease,
			Strategy: pack, Bundles: []sdk.LeaseBundle{one(1, 0)}}}))
		if err != nil {
			t.Fatal(err)
		}
		event := sdk.LeaseEvent{}
		for late := time.After(time.Minute); event.Kind != c.kind && event.Kind != sdk.LeaseRefused; {
			select {
			case event = <-heard:
			case <-late:
				t.Fatalf("%s: %+v, want %v", lease, event, c.kind)
			}
		}
		if event.Kind != c.kind || !strings.Contains(event.Why, c.want) {
			t.Errorf("%s: %v: %s, want %v: %s", lease, event.Kind, event.Why, c.kind, c.want)
		}
		if err := errors.Join(e.Adopt(context.Background(), nil), e.(io.Closer).Close()); err != nil {
			t.Error(err)
		}
	}
}
