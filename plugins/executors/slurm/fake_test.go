package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// fakeCommands are commands of a Slurm that misbehaves: the file NAME.does has what a command does the next
// time. Jobs are lines of the file jobs, as squeue prints them.
var fakeCommands = map[string]string{
	"sbatch": `
id=1
while ! mkdir id.$id 2>/dev/null; do id=$((id + 1)); done
indices=
for a in "$@"; do
  case $a in --job-name=*) name=${a#*=};; --comment=*) comment=${a#*=};; --array=*) indices=${a#*=};; esac
done
env > exported
echo "$name $indices" >> submissions
cat > script.$id
submit() {
  [ -n "$indices" ] || echo "$id|$id|$name|PENDING|Priority||NONE|N/A|$comment|" >> jobs
  for i in $(echo $indices | tr , ' '); do
    echo "$id|${id}_$i|$name|PENDING|Priority||NONE|N/A|$comment|" >> jobs
  done
}
if [ -n "$indices" ] && [ -e arrays.refused ]; then cat arrays.refused >&2; exit 1; fi
case $does in
late) submit; exec sleep 60;;
rubbish) submit; echo "Welcome to the cluster!"; exit;;
noise) submit; echo "Welcome to the cluster!"; echo "$id;main";  exit;;
never) exec sleep 60;;
?*) echo "$does" >&2; exit 1;;
esac
submit; echo $id`,
	"squeue": `
case $does in
rubbish) echo "<html>503</html>"; exit;;
empty) exit;;
cut) echo "` + squeueHeader + `"; head -c 20 jobs; exit;;
missing) echo "` + squeueHeader + `"; exit;;
?*) echo "$does" >&2; exit 1;;
esac
echo "` + squeueHeader + `"; cat jobs`,
	"scancel": `
[ -z "$does" ] || { echo "$does" >&2; exit 1; }
for id in "$@"; do
  if ! grep -q "^[0-9]*|$id|" jobs; then
    echo "scancel: error: Kill job error on job id $id: Invalid job id specified" >&2
    bad=1
  fi
  sed -i "s/^\([0-9]*|$id\)|\(.*\)|\(PENDING\|RUNNING\)|/\1|\2|CANCELLED|/" jobs
done
exit $bad`,
	"scontrol": `
[ -z "$does" ] || { echo "$does" >&2; exit 1; }
for id; do :; done
case $id in
*_*)
  grep -q "|$id|" jobs || { echo "Job $id not found"; exit 1; }
  of=$(grep "|$id|" jobs | cut -d'|' -f1)
  echo "JobId=$of ArrayJobId=${id%_*} ArrayTaskId=${id#*_} JobState=FAILED ExitCode=0:15"
  exit;;
esac
grep -q "^$id|" jobs || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
echo "JobId=$id JobState=$(grep "^$id|" jobs | cut -d'|' -f4) Reason=None ExitCode=0:15"`,
	"sinfo": `exit 1`,
	"sacct": `exit 1`,
}

// bench is an executor on a Slurm that misbehaves.
type bench struct {
	*executor
	t   *testing.T
	dir string

	mu    sync.Mutex
	heard []string
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, dir: t.TempDir()}
	for name, text := range fakeCommands {
		b.write(name, fmt.Sprintf("#!/bin/sh\ncd %s\n"+
			"does=$(cat %s.does 2>/dev/null); rm -f %[2]s.does\n%[3]s\n", quote(b.dir), name, text), 0o755)
	}
	b.write("jobs", "", 0o600)
	t.Setenv("PATH", b.dir+":"+os.Getenv("PATH"))
	o, err := read([]byte(`{"command_timeout": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	b.executor = newExecutor(sdk.Execution{Prefix: "th-a-", Dir: b.dir}, o, b.hear)
	t.Cleanup(func() { b.Close() })
	b.must(b.Adopt(t.Context(), nil))
	return b
}

func (b *bench) write(name, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	b.must(err)
	return string(text)
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) hear(events ...sdk.LeaseEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		text := e.Lease + " " + e.Kind.String()
		for _, g := range e.Bundles {
			text += " " + g.Node
		}
		if e.Why != "" {
			text += ": " + e.Why
		}
		b.heard = append(b.heard, text)
	}
}

// does sets what a command does the next time.
func (b *bench) does(name, what string) { b.write(name+".does", what, 0o600) }

// allocate requests a lease.
func (b *bench) allocate(lease string) error {
	return b.Allocate(b.t.Context(), []sdk.LeaseRequest{{Lease: lease, Strategy: pack,
		Bundles: []sdk.LeaseBundle{{{Name: "cpu", Value: 1}}}}})
}

// sets changes the jobs.
func (b *bench) sets(old, now string) {
	b.t.Helper()
	text := b.read("jobs")
	if !strings.Contains(text, old) {
		b.t.Fatalf("%q is not in %s", old, text)
	}
	b.write("jobs", strings.ReplaceAll(text, old, now), 0o600)
}

// looks makes the executor look at the jobs now.
func (b *bench) looks() {
	b.must(b.take(b.t.Context()))
	defer b.pass()
	b.look()
}

// says compares the events since the last call.
func (b *bench) says(want ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := strings.Join(b.heard, "\n"); got != strings.Join(want, "\n") {
		b.t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	b.heard = nil
}

// has compares the states of all jobs.
func (b *bench) has(want ...string) {
	b.t.Helper()
	var got []string
	for line := range strings.Lines(b.read("jobs")) {
		f := strings.Split(line, "|")
		got = append(got, f[2]+" "+f[3])
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Errorf("the jobs are %q, want %q", got, want)
	}
}

const queued = "th-a-1 pending: Slurm: Priority (jobs with a higher priority wait, too)"

// runs requests a lease and waits until it is granted.
func (b *bench) runs() {
	b.t.Helper()
	b.must(b.allocate("th-a-1"))
	b.sets("PENDING|Priority|", "RUNNING|None|n1")
	b.looks()
	b.says("th-a-1 granted n1")
}

// on ends the reason of a lost lease of runs.
const on = "; it was on the node n1"

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
	b.says("th-a-1 lost: Slurm: TIMEOUT: the job reached its time limit; it was on the node n1; Reason TimeLimit")
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
	b.says("th-a-1 lost: Slurm: CANCELLED: the job was cancelled, by scancel or an administrator" + on)
	for _, c := range []struct {
		exit string
		late time.Duration
		want string
	}{
		{"0:0", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it" + on},
		// the script of a heterogeneous job is over before its other components are
		{"0:15", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it" + on +
			"; ExitCode 0:15"},
		{"143:0", completingFor, "th-a-1 ending: Slurm ends the job, as when it is cancelled\n" +
			"th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it" + on +
			"; ExitCode 143:0"},
		{"1:0", 0, "th-a-1 lost: Slurm: COMPLETING: the job has ended, and Slurm still cleans up after it" + on +
			"; ExitCode 1:0"},
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
		b.says("th-a-1 lost: Slurm: CANCELLED: " + c.want + on + "; ExitCode 0:15")
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
		{"CANCELLED", "RUNNING\nCANCELLED by 0", "Slurm: CANCELLED: the job was cancelled by root" + on},
		{"CANCELLED", "", "Slurm: CANCELLED: the job was cancelled, by scancel or an administrator" + on},
		{"PREEMPTED", "PREEMPTED", "Slurm: PREEMPTED: the job was preempted" + on},
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

// B-130: a submission is not repeated if its answer is lost or unreadable.
func TestSubmitsOnce(t *testing.T) {
	for _, does := range []string{"late", "rubbish"} {
		b := newBench(t)
		b.does("sbatch", does)
		if err := b.allocate("th-a-1"); err == nil {
			t.Errorf("%s: no error", does)
		}
		b.must(b.allocate("th-a-1"))
		b.looks()
		b.says(queued)
		b.has("th-a-1 PENDING")
	}
	b := newBench(t)
	b.does("sbatch", "never")
	if err := b.allocate("th-a-1"); err == nil {
		t.Error("no error")
	}
	b.has()
	b.must(b.allocate("th-a-1"))
	b.has("th-a-1 PENDING")
}

// The job of a lost submission appears after the lease was submitted again: one of the two is cancelled.
func TestSecondJobIsCancelled(t *testing.T) {
	b := newBench(t)
	b.runs()
	b.write("jobs", b.read("jobs")+"2|2|th-a-1|PENDING|Priority||NONE|N/A|x|\n"+
		"3|3|th-b-1|PENDING|Priority||NONE|N/A|x|\n", 0o600)
	b.must(b.Adopt(t.Context(), []string{"th-a-1"}))
	b.looks()
	b.looks()
	b.says("th-a-1 granted n1")
	b.has("th-a-1 RUNNING", "th-a-1 CANCELLED", "th-b-1 PENDING")
}

// The lease of a lost submission was released before its job appears.
func TestLateJobIsCancelled(t *testing.T) {
	b := newBench(t)
	b.does("sbatch", "never")
	if err := b.allocate("th-a-1"); err == nil {
		t.Error("no error")
	}
	b.must(b.Release(t.Context(), []string{"th-a-1"}))
	b.write("jobs", "1|1|th-a-1|RUNNING|None|n1|NONE|N/A|x|\n", 0o600)
	b.looks()
	b.looks()
	b.has("th-a-1 CANCELLED")
}

// A message of sbatch is a refusal, or an error after which the call is repeated.
func TestRefusals(t *testing.T) {
	for text, refused := range map[string]bool{
		"sbatch: error: Batch job submission failed: Requested node configuration is not available":        true,
		"sbatch: error: invalid partition specified: nope":                                                 true,
		"sbatch: unrecognized option '--foo'":                                                              true,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)": false,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":              false,
		"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying.":                    false,
		"sbatch: error: QOSMaxSubmitJobPerUserLimit":                                                       false,
		"sh: 1: cannot fork": false,
	} {
		b := newBench(t)
		b.does("sbatch", text)
		err := b.allocate("th-a-1")
		switch {
		case refused:
			b.must(err)
			b.says("th-a-1 refused: " + text)
		case err == nil || !strings.HasPrefix(err.Error(), text):
			t.Errorf("%v, want %s", err, text)
		case strings.Contains(text, "QOS") != strings.HasSuffix(err.Error(), "or wait until jobs end)"):
			t.Errorf("%v; is it said what to do about a limit?", err)
		default:
			b.says()
			b.must(b.allocate("th-a-1"))
			b.has("th-a-1 PENDING")
		}
	}
}

// Sites print greetings around the number of the job.
func TestNoise(t *testing.T) {
	b := newBench(t)
	b.does("sbatch", "noise")
	b.must(b.allocate("th-a-1"))
	b.looks()
	b.says(queued)
}

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
	b.says("th-a-1 lost: Slurm: NODE_FAIL: a node failed; it was on the node n1; ExitCode 0:15")
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
	b.says("th-a-1 lost: Slurm: PREEMPTED: the job was preempted" + on + "; ExitCode 0:15")
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
	b.says("th-a-1 lost: Slurm has put the job back into its queue: Slurm: BeginTime (its time has not come yet)" + on)
	b.has("th-a-1 CANCELLED")
}

func TestNeverStarts(t *testing.T) {
	b := newBench(t)
	b.must(b.allocate("th-a-1"))
	b.sets("Priority", "PartitionTimeLimit")
	b.looks()
	b.says("th-a-1 refused: Slurm: PartitionTimeLimit (the option time is more than the partition allows)")
	b.has("th-a-1 CANCELLED")
}

// A job that could not say that its node lacks the program, because that does not see the folder for its output either,
// has that said for it: which program, on which node, and what to do.
func TestProgramIsNotThere(t *testing.T) {
	for send, want := range map[bool]string{
		false: "/no/tunehost is not on the node n1: put tunehost where all nodes see it (the option program names " +
			"its path there), or set send: true",
		true: "the program was not sent to the node n1",
	} {
		b := newBench(t)
		b.runs()
		b.x.Agent, b.Program, b.Send = &sdk.Agent{}, "/no/tunehost", send
		b.write("scontrol", "#!/bin/sh\necho JobId=1 JobState=FAILED Reason=None ExitCode=113:0\n", 0o755)
		b.sets("RUNNING", "FAILED")
		b.looks()
		b.says("th-a-1 lost: Slurm: FAILED: the job failed; ExitCode 113:0; its last words: " + want)
	}
	b := newBench(t)
	b.runs()
	b.x.Agent, b.Program = &sdk.Agent{}, "/no/tunehost"
	b.write("scontrol", "#!/bin/sh\necho JobId=1 JobState=FAILED Reason=None ExitCode=127:0\n", 0o755)
	b.sets("RUNNING", "FAILED")
	b.looks() // a login file, such as one with exec zsh, has this status too
	b.says("th-a-1 lost: Slurm: FAILED: the job failed" + on + "; ExitCode 127:0")
}

// A limit of each job is no limit that fewer jobs or waiting cure.
func TestLimitOfEachJob(t *testing.T) {
	const advice = " (a limit of each job, also of a single one: request less, or use another QOS or account)"
	for _, reason := range []string{"QOSMaxCpuPerJobLimit", "QOSMaxGRESPerNode", "AssocMaxWallDurationPerJobLimit"} {
		b := newBench(t)
		b.must(b.allocate("th-a-1"))
		b.sets("Priority", reason)
		b.looks()
		b.says("th-a-1 refused: Slurm: " + reason + advice)
		b.has("th-a-1 CANCELLED")
	}
	b := newBench(t)
	const words = "sbatch: error: QOSMaxCpuPerJobLimit; sbatch: error: Batch job submission failed: Job violates " +
		"accounting/QOS policy (job submit limit, user's size and/or time limits)"
	b.must(b.allocate("th-a-1"))
	b.does("sbatch", strings.ReplaceAll(words, "; ", "\n"))
	b.must(b.allocate("th-a-2")) // beside another one
	b.says("th-a-2 refused: " + words + advice)
	for _, reason := range []string{"QOSMaxJobsPerUserLimit", "QOSGrpCpuLimit", "AssocMaxSubmitJobLimit"} {
		if never(&job{reason: reason}) {
			t.Error(reason, "is said to be of each job")
		}
	}
}

// A command that is killed with its call gives the turn back.
func TestCallEnds(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Adopt(ctx, nil); err == nil {
		t.Error("no error")
	}
	b.must(b.Adopt(t.Context(), nil))
}

// B-137: of the environment of the host, a job gets only what a login shell needs, unless the user says more.
func TestJobEnvironment(t *testing.T) {
	for name, value := range map[string]string{"API_TOKEN": "s3cret", "HOME": "/home/ann", "SLURM_CONF": "/etc/x.conf",
		"SLURM_JOB_ID": ""} {
		t.Setenv(name, value)
	}
	b := newBench(t)
	b.must(b.allocate("th-a-1"))
	text := b.read("exported")
	if strings.Contains(text, "s3cret") || strings.Contains(text, "SLURM_TIME_FORMAT") {
		t.Errorf("the job gets %q", text)
	}
	for _, want := range []string{"HOME=/home/ann\n", "SLURM_CONF=/etc/x.conf\n", "PATH=/usr/", ":" + b.dir + "\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the job gets %q, without %q", text, want)
		}
	}
	b.Args = []string{"--export=ALL"}
	b.must(b.allocate("th-a-2"))
	if text := b.read("exported"); !strings.Contains(text, "API_TOKEN=s3cret\n") {
		t.Errorf("the job gets %q, and should get all", text)
	}
}
