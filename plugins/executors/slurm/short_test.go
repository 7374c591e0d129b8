package slurm

import (
	"fmt"
	"os"
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
	heard := make(chan sdk.LeaseEvent, 9)
	e, err := newSteps(sdk.Execution{Dir: testplace.Short(t), Prefix: "th-"}, options{Notice: 60, Commands: 9},
		func(events ...sdk.LeaseEvent) { heard <- events[0] })
	if err != nil {
		t.Fatal(err)
	}
	err = e.Allocate(t.Context(), []sdk.LeaseRequest{{Lease: "th-1", Bundles: []sdk.LeaseBundle{nil}}})
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.look()
	e.mu.Unlock()
	x := <-heard
	if x.Kind != sdk.LeasePending || x.Until.IsZero() || !strings.Contains(x.Why, "the allocation ends at") {
		t.Errorf("%+v", x)
	}
}
