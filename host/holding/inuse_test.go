package holding

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
)

// Who resumes an experiment whose host is ending is told what that waits for, and not to end it.
func TestInUse(t *testing.T) {
	held := &journal.LockedError{Dir: "results/e", PID: 7, Host: "login1", Started: "2026-11-28T18:00:00Z"}
	const leaving = `its host still waits for the executor "slurm" to give 2 leases back, 20s more at most`
	for why, want := range map[string]string{
		"":      " since 2026-11-28T18:00:00Z: stop that one first; `tunehost watch",
		leaving: ": " + leaving + "; try again when it has ended",
	} {
		if got := inUse(held, why).Error(); !strings.HasPrefix(got, "results/e is in use by process 7 on login1"+want) {
			t.Errorf("%q: %s", why, got)
		}
	}
}
