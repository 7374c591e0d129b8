package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A node that was drained is used again: what is known of it is older than the job that Slurm starts there.
func TestDrainThatHasEnded(t *testing.T) {
	b := newBench(t)
	at := time.Now()
	b.now = func() time.Time { return at }
	b.write("sinfo", "#!/bin/sh\necho 'n1|maint|;'\n", 0o755)
	b.runs()
	at = at.Add(drainEvery)
	b.looks()
	b.says("th-a-1 ending: the node n1 is being drained: maint")
	b.must(b.Release(t.Context(), []string{"th-a-1"}))
	b.looks()
	b.must(b.allocate("th-a-2"))
	b.sets("PENDING|Priority|", "RUNNING|None|n1")
	b.looks()
	b.looks()
	b.says("th-a-2 granted n1")
	b.write("sinfo", "#!/bin/sh\n", 0o755)
	at = at.Add(drainEvery)
	b.looks()
	b.says()
}

// A job that is past its end is looked at often enough that the host hears of the time limit before it misses the
// agents, also while Slurm still kills the job's processes.
func TestTimeLimit(t *testing.T) {
	b := newBench(t)
	at := time.Now()
	b.now = func() time.Time { return at }
	end := at.Add(time.Hour).Truncate(time.Second)
	b.must(b.allocate("th-a-1"))
	b.sets("PENDING|Priority||NONE", fmt.Sprintf("RUNNING|None|n1|%d", end.Unix()))
	b.looks()
	b.says("th-a-1 granted n1")
	at = end.Add(-30 * time.Second)
	b.looks()
	b.says("th-a-1 ending: the time limit of the job is near")
	for _, c := range []struct{ left, wait time.Duration }{
		{20 * time.Second, 20 * time.Second},
		{-5 * time.Second, pastEnd},
	} {
		if at = end.Add(-c.left); b.untilNotice(0) != c.wait {
			t.Errorf("%v before the end the next look is in %v", c.left, b.untilNotice(0))
		}
	}
	if took := 3 * time.Second; b.untilNotice(took) != took {
		t.Errorf("a slow Slurm is asked after %v", b.untilNotice(took))
	}
	b.sets("RUNNING", "COMPLETING")
	b.write("scontrol", "#!/bin/sh\necho JobId=1 JobState=COMPLETING Reason=TimeLimit\n", 0o755)
	b.looks()
	b.says("th-a-1 lost: Slurm: TIMEOUT: the job reached its time limit; Reason TimeLimit")
}

// While Slurm ends a job, its state says no more: the host is told that the lease ends, and hears why it has ended
// afterwards, unless that takes long. A script that has failed is the reason itself.
func TestCompleting(t *testing.T) {
	b := newBench(t)
	at := time.Now()
	b.now = func() time.Time { return at }
	b.x.Agent = &sdk.Agent{Path: "/bin/true"}
	ends := func(exit string) {
		t.Helper()
		b.runs()
		b.sets("RUNNING", "COMPLETING")
		b.write("scontrol", "#!/bin/sh\necho JobId=1 JobState=$(cut -d'|' -f4 "+b.dir+"/jobs) Reason=None "+
			"ExitCode="+exit+"\n", 0o755)
		b.looks()
	}
	ends("0:0")
	b.looks()
	b.says("th-a-1 ending: Slurm ends the job, as when it is cancelled")
	if wait := b.untilNotice(0); wait != pastEnd {
		t.Errorf("the next look is in %v", wait)
	}
	b.sets("COMPLETING", "CANCELLED")
	b.looks()
	b.says("th-a-1 lost: Slurm: CANCELLED: the job was cancelled, by scancel or an administrator")
	for _, c := range []struct {
		exit string
		late time.Duration
		want string
	}{
		{"0:0", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it"},
		// the script of a heterogeneous job is over before its other components are
		{"0:15", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it; ExitCode 0:15"},
		{"143:0", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it; ExitCode 143:0"},
		{"1:0", 0, "th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it; " +
			"ExitCode 1:0"},
	} {
		b.write("jobs", "", 0o600)
		b.must(os.RemoveAll(filepath.Join(b.dir, "id.1")))
		ends(c.exit)
		at = at.Add(c.late)
		b.looks()
		b.says(c.want)
	}
}

// Who has cancelled a job is said if the accounting knows it. A cluster without one is not asked again.
func TestWhoHasCancelled(t *testing.T) {
	const somebody = "the job was cancelled, by scancel or an administrator"
	for _, c := range []struct{ sacct, want string }{
		{"[ $4 = --jobs=1 ] && echo 'CANCELLED by 0'", "the job was cancelled by root"},
		{"echo 'CANCELLED by 4294000000'", "the job was cancelled by the user 4294000000"},
		{"echo RUNNING", somebody},
		{"echo 'Slurm accounting storage is disabled' >&2; exit 1", somebody},
	} {
		b := newBench(t)
		b.write("sacct", "#!/bin/sh\ncd "+b.dir+"\n"+c.sacct+"\n", 0o755)
		b.runs()
		b.sets("RUNNING", "CANCELLED")
		b.looks()
		b.says("th-a-1 lost: Slurm: CANCELLED: " + c.want + "; ExitCode 0:15")
	}
	b := newBench(t)
	b.write("sacct", "#!/bin/sh\necho 1 >> "+b.dir+"/asked\nexit 1\n", 0o755)
	b.submits(several(1, 2, 3, 4)...)
	for _, task := range []string{"1_1", "1_2"} {
		b.sets("1|"+task+"|th-a-0+|PENDING|", "1|"+task+"|th-a-0+|CANCELLED|")
		b.looks()
	}
	if asked := b.read("asked"); asked != "1\n" {
		t.Errorf("the accounting was asked %q times", asked)
	}
}

// A job may be released before Slurm says why it has signalled its processes: the host hears it afterwards. Nothing is
// said of a job that ends because it is released.
func TestWhyItHasEnded(t *testing.T) {
	for _, c := range []struct{ state, sacct, want string }{
		{"CANCELLED", "RUNNING\nCANCELLED by 0", "Slurm: CANCELLED: the job was cancelled by root"},
		{"CANCELLED", "", "Slurm: CANCELLED: the job was cancelled, by scancel or an administrator"},
		{"PREEMPTED", "PREEMPTED", "Slurm: PREEMPTED: the job was preempted"},
	} {
		b := newBench(t)
		b.accounting.every = time.Millisecond
		b.x.Agent = &sdk.Agent{}
		b.runs()
		b.write("answers", c.sacct+"\n", 0o600)
		b.write("sacct", "#!/bin/sh\ncd "+b.dir+"\nhead -n 1 answers | grep . || exit 1\nsed -i 1d answers\n", 0o755)
		b.sets("RUNNING", c.state) // no listing has seen it yet
		b.must(b.Release(t.Context(), []string{"th-a-1"}))
		await(t, "the reason", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return len(b.heard) > 0
		})
		b.says("th-a-1 lost: " + c.want)
	}
	b := newBench(t)
	b.x.Agent = &sdk.Agent{}
	b.runs()
	if l := b.leases["th-a-1"]; len(b.endedBefore(t.Context(), []string{l.name})) > 0 {
		t.Error("a job that runs is said to have ended")
	}
}

// B-132: the end of a job is known; if Slurm brings it forward, the job is preempted.
func TestEnds(t *testing.T) {
	now := time.Now().Unix()
	b := newBench(t)
	b.runs()
	b.sets("|NONE|", fmt.Sprintf("|%d|", now+3600))
	b.looks()
	// there was no end before
	b.says("th-a-1 ending: Slurm has brought the end of the job forward, as for a preemption")
	b = newBench(t)
	b.must(b.allocate("th-a-1"))
	b.sets("PENDING|Priority||NONE|", fmt.Sprintf("RUNNING|None|n1|%d|", now+3600))
	b.looks()
	b.looks()
	b.says("th-a-1 granted n1")
	b.sets(fmt.Sprint(now+3600), fmt.Sprint(now+7200)) // an administrator gives it more time
	b.looks()
	b.says()
	b.sets(fmt.Sprint(now+7200), fmt.Sprint(now+30))
	b.looks()
	b.looks()
	b.says("th-a-1 ending: Slurm has brought the end of the job forward, as for a preemption")
	b.sets("RUNNING", "PREEMPTED")
	b.looks()
	b.says("th-a-1 lost: Slurm: PREEMPTED: the job was preempted; ExitCode 0:15")
}

// B-132: the preemption of a job without a time limit is known only from its PreemptTime.
func TestPreemptedWithoutEnd(t *testing.T) {
	b := newBench(t)
	b.runs()
	b.sets("|N/A|", fmt.Sprintf("|%d|", time.Now().Unix()))
	b.looks()
	b.looks()
	b.says("th-a-1 ending: Slurm preempts the job")
}

// A job that Slurm has put back into its queue is no longer the job of its lease.
func TestRequeued(t *testing.T) {
	b := newBench(t)
	b.runs()
	b.sets("RUNNING|None", "PENDING|BeginTime")
	b.looks()
	b.says("th-a-1 lost: Slurm has put the job back into its queue: Slurm: BeginTime (its time has not come yet)")
	b.has("th-a-1 CANCELLED")
}
