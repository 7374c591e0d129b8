package slurm

import (
	"strings"
	"testing"
)

// B-133: a lease is lost if its job is over, but not just because squeue does not list it.
func TestListingsThatFail(t *testing.T) {
	b := newBench(t)
	b.runs()
	for _, does := range []string{"rubbish", "empty", "cut", "missing",
		"slurm_load_jobs error: Unable to contact slurm controller",
		"missing", "missing", "missing"} {
		b.does("squeue", does)
		b.looks()
	}
	b.says()
	b.sets("RUNNING", "NODE_FAIL")
	b.looks()
	b.says("th-a-1 lost: Slurm: NODE_FAIL: a node failed; ExitCode 0:15")
	b.must(b.allocate("th-a-2"))
	b.write("jobs", "", 0o600)
	b.looks()
	b.looks()
	b.says("th-a-2 lost: Slurm does not know the job 2 any more")
}

// While squeue fails, waiting leases say so.
func TestWaitsForSqueue(t *testing.T) {
	b := newBench(t)
	b.must(b.allocate("th-a-1"))
	const failure = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
	b.does("squeue", failure)
	b.looks()
	b.says("th-a-1 pending: " + failure + "; it is tried again")
	for range worthSaying {
		b.does("squeue", failure)
		b.looks()
	}
	b.says() // once
	b.looks()
	b.says(queued)
}

// B-134: jobs of leases that do not count are cancelled, those of other experiments are not; a call that fails is
// made again.
func TestAdopts(t *testing.T) {
	b := newBench(t)
	b.write("jobs", "1|1|th-a-1|RUNNING|None|n1|NONE|N/A|tunehost:pack:1*1c0g|\n2|2|th-a-2|PENDING|None||NONE|N/A|x|\n"+
		"3|3|th-b-1|RUNNING|None|n1|NONE|N/A|x|\n", 0o600)
	b.does("squeue", "rubbish")
	if err := b.Adopt(t.Context(), []string{"th-a-1"}); err == nil {
		t.Error("no error")
	}
	b.does("scancel", "scancel: error: Unable to contact slurm controller")
	if err := b.Adopt(t.Context(), []string{"th-a-1"}); err == nil {
		t.Error("no error")
	}
	b.says()
	b.must(b.Adopt(t.Context(), []string{"th-a-1", "th-a-9"}))
	b.has("th-a-1 RUNNING", "th-a-2 CANCELLED", "th-b-1 RUNNING")
	b.mu.Lock()
	heard := strings.Join(b.heard, "\n")
	b.mu.Unlock()
	for _, want := range []string{"th-a-1 granted n1", "th-a-9 lost: Slurm has no job for this lease"} {
		if !strings.Contains(heard, want) {
			t.Errorf("%q is not in %s", want, heard)
		}
	}
}

func TestReleases(t *testing.T) {
	b := newBench(t)
	b.runs()
	b.does("scancel", "scancel: error: Unable to contact slurm controller")
	if err := b.Release(t.Context(), []string{"th-a-1"}); err == nil {
		t.Error("no error")
	}
	b.must(b.Release(t.Context(), []string{"th-a-1", "th-a-7"}))
	b.has("th-a-1 CANCELLED")
	b.says()
}
