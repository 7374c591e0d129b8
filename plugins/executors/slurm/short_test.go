package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// allocated makes an allocation of a Slurm that is a script, which began so many seconds ago and ends in so many.
func allocated(t *testing.T, ago, in int64) {
	t.Helper()
	dir, now := t.TempDir(), time.Now().Unix()
	text := fmt.Sprintf("#!/bin/sh\necho 'JobId=7 StartTime=%d EndTime=%d'\n", now-ago, now+in)
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("SLURM_JOB_ID", "7")
}

// TestMain makes this program the srun of a step for which the allocation has no room: it waits.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "srun" {
		time.Sleep(time.Hour)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// busy makes a full allocation, which ends in so many seconds.
func busy(t *testing.T, in int64) {
	t.Helper()
	allocated(t, 300, in)
	self, err := os.Executable()
	if err == nil {
		bin, _, _ := strings.Cut(os.Getenv("PATH"), ":")
		err = os.Symlink(self, filepath.Join(bin, "srun"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withStep returns the executor in an allocation, of which a lease was requested, and what the host hears. The caller
// has its lock until the test ends.
func withStep(t *testing.T, setup string) (*steps, *[]sdk.LeaseEvent) {
	t.Helper()
	heard := new([]sdk.LeaseEvent)
	e, err := newSteps(sdk.Execution{Dir: testplace.Short(t), Prefix: "th-"},
		options{Notice: 60, Commands: 9, Setup: setup},
		func(events ...sdk.LeaseEvent) { *heard = append(*heard, events...) })
	if err != nil {
		t.Fatal(err)
	}
	err = e.Allocate(t.Context(), []sdk.LeaseRequest{{Lease: "th-1", Bundles: []sdk.LeaseBundle{nil}}})
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	t.Cleanup(e.mu.Unlock)
	return e, heard
}

// In an allocation that is not longer than notice nothing could ever run: it is refused at the start.
func TestAllocationShorterThanNotice(t *testing.T) {
	allocated(t, 1, 59)
	_, _, err := Plugin.Open(sdk.Execution{Dir: t.TempDir(), Prefix: "th-"}, []byte("{}"), func(...sdk.LeaseEvent) {})
	const want = `option "notice" is 60; allowed: less than the time of the allocation, which is 1m0s`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

// A lease that is requested when the allocation ends soon is said to wait in vain, so that the host can end.
func TestAllocationEndsSoon(t *testing.T) {
	allocated(t, 300, 50)
	e, heard := withStep(t, "")
	e.look()
	x := (*heard)[0]
	if x.Kind != sdk.LeasePending || x.Until.IsZero() || !strings.Contains(x.Why, "the allocation ends at") {
		t.Errorf("%+v", x)
	}
}

// A lease whose step waits for room when the allocation ends soon is given up: it waits in vain, so that the host can
// end once all trials have left, and what they leave starts nothing any more.
func TestStepWaitsUntilTheEnd(t *testing.T) {
	busy(t, 500)
	e, told := withStep(t, "")
	srun := e.leases["th-1"].pid
	t.Cleanup(func() { terminate(srun) })
	await(t, "srun", func() bool { return e.leases["th-1"].alive() }) // else it would be lost
	e.look()
	e.until = time.Now().Add(50 * time.Second)
	e.look()
	await(t, "the end of srun", func() bool { return leaseOf(srun) == "" })
	heard := *told
	if len(heard) != 2 || !heard[0].Until.IsZero() || heard[1].Kind != sdk.LeasePending || heard[1].Until.IsZero() {
		t.Fatalf("%+v", heard)
	}
	e.until = time.Now().Add(500 * time.Second)
	e.look() // it has more time now
	again := e.leases["th-1"].pid
	t.Cleanup(func() { terminate(again) })
	if again == srun || e.leases["th-1"].held {
		t.Error("the step does not start when the allocation gets more time")
	}
}

// The number of an srun that has ended may be that of another process by now.
func TestUnsentLeaseOfAnEndedStep(t *testing.T) {
	busy(t, 500)
	e, heard := withStep(t, "")
	l := e.leases["th-1"]
	terminate(l.pid)
	other := exec.Command("cat")
	input, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	l.pid, l.told.Kind = other.Process.Pid, sdk.LeaseGranted
	e.mu.Unlock()
	e.unsent("th-1", "no room there")
	e.mu.Lock()
	if len(*heard) != 1 || (*heard)[0].Kind != sdk.LeaseLost {
		t.Errorf("%+v", *heard)
	}
	_ = input.Close()
	if err := other.Wait(); err != nil {
		t.Error("a process that is no srun:", err)
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + " is awaited in vain")
		}
	}
}
