package holding

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
)

// Who resumes an experiment whose host is ending is told what that waits for, and not to end it.
func TestInUse(t *testing.T) {
	held := &journal.LockedError{Dir: "results/e", PID: 7, Host: "login1", Started: "2026-11-28T18:00:00Z"}
	for leaving, want := range map[string]string{
		"": "results/e is in use by process 7 on login1 since 2026-11-28T18:00:00Z: stop that one first; `tunehost watch",
		"its host still waits for the executor \"slurm\" to give 2 leases back, 20s more at most": "results/e is in use " +
			"by process 7 on login1: its host still waits for the executor \"slurm\" to give 2 leases back, 20s more at " +
			"most; try again when it has ended",
	} {
		if got := inUse(held, leaving).Error(); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
