package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// B-126: the status names a searcher or scheduler that was asked and has not answered for long, as long
// as a host runs.
func TestOverdue(t *testing.T) {
	w := write(t, file)
	lock, err := journal.LockDir(w.Dir.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	overdue := func(after time.Duration) string {
		s, err := open(t, w).Status(viewtest.Epoch.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, late := range s.Overdue {
			list = append(list, fmt.Sprintf("%s %s for %.0fs", late.Kind, late.Name, late.Seconds))
		}
		return strings.Join(list, ", ")
	}
	expect := func(after time.Duration, want string) {
		t.Helper()
		if got := overdue(after); got != want {
			t.Errorf("after %v: %q, want %q", after, got, want)
		}
	}
	w.Start(4)
	judged := *w.Machine.Spec()
	judged.Quiet = false
	w.Event(&core.SettingsChanged{Spec: judged})
	w.Flush()
	expect(9*time.Second, "")
	expect(12*time.Second, "searcher auto for 12s")
	w.Run(1) // all trials report after a second
	expect(9*time.Second, "")
	expect(13*time.Second, "scheduler fifo for 12s")
	decided := &core.SchedulerDecided{Through: w.Machine.Observations()}
	for n := range decided.Through + 1 {
		if w.Machine.AwaitsDecision(n) {
			decided.Decisions = append(decided.Decisions, core.Decision{Number: n})
		}
	}
	w.Event(decided)
	w.Flush()
	expect(time.Minute, "")
	w.Run(1)
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	expect(time.Minute, "") // nobody runs it
}
