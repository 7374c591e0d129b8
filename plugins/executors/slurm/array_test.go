package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// request is the request of a lease with a number.
func request(number int, cpus float64) sdk.LeaseRequest {
	return sdk.LeaseRequest{Lease: fmt.Sprint("th-a-", number), Strategy: pack,
		Bundles: []sdk.LeaseBundle{{{Name: "cpu", Value: cpus}}}}
}

// several are requests for the same.
func several(numbers ...int) (list []sdk.LeaseRequest) {
	for _, n := range numbers {
		list = append(list, request(n, 1))
	}
	return list
}

// submits requests leases.
func (b *bench) submits(leases ...sdk.LeaseRequest) {
	b.t.Helper()
	b.must(b.Allocate(b.t.Context(), leases))
}

// submitted compares the names and the indices of all submissions.
func (b *bench) submitted(want ...string) {
	b.t.Helper()
	got := strings.Split(strings.ReplaceAll(strings.TrimSpace(b.read("submissions")), " \n", "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.t.Errorf("submitted were %q, want %q", got, want)
	}
}

// tasks compares the numbers and the states of all jobs.
func (b *bench) tasks(want ...string) {
	b.t.Helper()
	var got []string
	for line := range strings.Lines(b.read("jobs")) {
		f := strings.Split(line, "|")
		got = append(got, f[1]+" "+f[3])
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("the jobs are %q, want %q", got, want)
	}
}

// Leases that ask for the same are one submission, and each task is its own lease.
func TestArrays(t *testing.T) {
	b := newBench(t)
	gang := request(9, 1)
	gang.Bundles = append(gang.Bundles, gang.Bundles[0])
	b.submits(append(several(1, 2, 3, 4, 999, 1000, 1001, 1002, 1003), request(5, 2), request(6, 2), gang)...)
	b.submitted("th-a-0+ 1,2,3,4,999", "th-a-1000+ 0,1,2,3", "th-a-5", "th-a-6", "th-a-9")
	b.looks()
	var all []string
	for _, n := range []int{1, 2, 3, 4, 5, 6, 9, 999, 1000, 1001, 1002, 1003} {
		all = append(all, strings.Replace(queued, "th-a-1", fmt.Sprint("th-a-", n), 1))
	}
	b.heard = sorted(b.heard)
	b.says(sorted(all)...)
}

func sorted(list []string) []string { slices.Sort(list); return list }

// A script has not more than so many leases.
func TestLongArrays(t *testing.T) {
	b := newBench(t)
	numbers := make([]int, mostTasks+fewest)
	var lists [2][]string
	for i := range numbers {
		numbers[i] = i
		lists[i/mostTasks] = append(lists[i/mostTasks], fmt.Sprint(i))
	}
	b.submits(several(numbers...)...)
	b.submitted("th-a-0+ "+strings.Join(lists[0], ","), "th-a-0+ "+strings.Join(lists[1], ","))
}

// Tasks of an array start, end and wait each for itself, and are released so.
func TestTasks(t *testing.T) {
	b := newBench(t)
	b.submits(several(1, 2, 3, 17)...)
	b.tasks("1_1 PENDING", "1_2 PENDING", "1_3 PENDING", "1_17 PENDING")
	b.sets("1|1_2|th-a-0+|PENDING|Priority|", "2|1_2|th-a-0+|RUNNING|None|n1")
	b.sets("1|1_17|th-a-0+|PENDING|Priority|", "3|1_17|th-a-0+|FAILED|NonZeroExitCode|n2")
	b.looks()
	b.heard = sorted(b.heard)
	b.says(queued, "th-a-17 lost: Slurm: FAILED: the job failed; it was on the node n2; "+
		"ExitCode 0:15", "th-a-2 granted n1",
		strings.Replace(queued, "-1", "-3", 1))
	b.must(b.Release(t.Context(), []string{"th-a-1", "th-a-2", "th-a-17"}))
	b.tasks("1_1 CANCELLED", "1_2 CANCELLED", "1_3 PENDING", "1_17 FAILED")
	// Slurm has no record of a task that was cancelled while it waited.
	b.sets("1|1_3|th-a-0+|PENDING|Priority||NONE|N/A|tunehost:pack:1*1c0g|\n", "")
	b.looks()
	b.looks()
	b.says("th-a-3 lost: " + cancelledWaiting + "; Slurm does not know the task 1_3 any more")
}

// Slurm has no record of a task that was cancelled while it waited: that is said only if a listing has just had it
// wait. The record of a whole array, or of its last task, has the reason for which it waited.
func TestTaskIsCancelledWhileItWaits(t *testing.T) {
	b := newBench(t)
	at := time.Now()
	b.now = func() time.Time { return at }
	b.submits(several(1, 2, 3, 4)...)
	b.looks()
	b.heard = nil
	b.sets("1|1_4|th-a-0+|PENDING|", "1|1_4|th-a-0+|CANCELLED|")
	b.sets("1|1_1|th-a-0+|PENDING|Priority||NONE|N/A|tunehost:pack:1*1c0g|\n", "")
	b.looks()
	b.says("th-a-4 lost: " + cancelledWaiting)
	b.looks()
	b.says("th-a-1 lost: " + cancelledWaiting + "; Slurm does not know the task 1_1 any more")
	b.sets("1|1_2|th-a-0+|PENDING|Priority||NONE|N/A|tunehost:pack:1*1c0g|\n", "")
	at = at.Add(time.Hour) // squeue has failed meanwhile, and the task may have run
	b.looks()
	b.looks()
	b.says("th-a-2 lost: Slurm does not know the job 1_2 any more")
	b.sets("1|1_3|th-a-0+|PENDING|Priority|", "2|1_3|th-a-0+|RUNNING|None|n1")
	b.looks()
	b.sets("2|1_3|th-a-0+|RUNNING|None|n1|NONE|N/A|tunehost:pack:1*1c0g|\n", "")
	b.looks()
	b.looks()
	b.says("th-a-3 granted n1", "th-a-3 lost: Slurm does not know the job 1_3 any more"+on)
}

// A site may allow no arrays. Single jobs are submitted then, and no more arrays are tried.
func TestArraysAreRefused(t *testing.T) {
	b := newBench(t)
	b.write("arrays.refused", "sbatch: error: Batch job submission failed: Invalid job array specification\n", 0o600)
	b.submits(several(1, 2, 3, 4)...)
	b.submits(several(5, 6, 7, 8)...)
	b.submitted("th-a-0+ 1,2,3,4", "th-a-1", "th-a-2", "th-a-3", "th-a-4", "th-a-5", "th-a-6", "th-a-7", "th-a-8")
	b.says()
}

// A limit refuses an array of which it allows some jobs. Later arrays may be below it.
func TestArrayAboveALimit(t *testing.T) {
	for _, words := range []string{"QOSMaxSubmitJobPerUserLimit", "Job violates accounting/QOS policy"} {
		b := newBench(t)
		b.write("arrays.refused", "sbatch: error: "+words+"\n", 0o600)
		b.submits(several(1, 2, 3, 4)...)
		b.must(os.Remove(filepath.Join(b.dir, "arrays.refused")))
		b.submits(several(5, 6, 7, 8)...)
		b.submitted("th-a-0+ 1,2,3,4", "th-a-0+ 5,6,7,8", "th-a-1", "th-a-2", "th-a-3", "th-a-4")
		b.says()
	}
}

// What can never be granted is refused with the words about one job.
func TestArrayCannotBeMet(t *testing.T) {
	b := newBench(t)
	const words = "sbatch: error: Batch job submission failed: Requested node configuration is not available"
	b.write("sbatch", "#!/bin/sh\necho '"+words+"' >&2\nexit 1\n", 0o755)
	b.submits(several(1, 2, 3, 4)...)
	b.heard = sorted(b.heard)
	b.says("th-a-1 refused: "+words, "th-a-2 refused: "+words, "th-a-3 refused: "+words, "th-a-4 refused: "+words)
	if b.single {
		t.Error("no more arrays are tried")
	}
}

// B-130: an array is not submitted again if its answer is lost, or unreadable. If it was not submitted, single jobs
// are: a limit that it reaches may have had no answer.
func TestSubmitsArrayOnce(t *testing.T) {
	for _, does := range []string{"late", "rubbish"} {
		b := newBench(t)
		b.does("sbatch", does)
		if err := b.Allocate(t.Context(), several(1, 2, 3, 4)); err == nil {
			t.Errorf("%s: no error", does)
		}
		b.sets("1|1_2|th-a-0+|PENDING|Priority|", "2|1_2|th-a-0+|RUNNING|None|n1")
		b.submits(several(1, 2, 3, 4)...)
		b.submitted("th-a-0+ 1,2,3,4")
		b.must(b.Release(t.Context(), []string{"th-a-2", "th-a-3"}))
		b.tasks("1_1 PENDING", "1_2 CANCELLED", "1_3 CANCELLED", "1_4 PENDING")
	}
	b := newBench(t)
	b.does("sbatch", "never")
	if err := b.Allocate(t.Context(), several(1, 2, 3, 4)); err == nil {
		t.Error("no error")
	}
	b.submits(several(1, 2, 3, 4)...)
	b.submitted("th-a-0+ 1,2,3,4", "th-a-1", "th-a-2", "th-a-3", "th-a-4")
	// the array appears after all
	b.write("jobs", b.read("jobs")+"9|9_1|th-a-0+|PENDING|Priority||NONE|N/A|x|\n"+
		"10|9_2|th-a-0+|RUNNING|None|n1|NONE|N/A|x|\n", 0o600)
	b.looks()
	b.looks()
	text := b.read("jobs")
	if strings.Count(text, "th-a-0+|CANCELLED|") != 2 || strings.Count(text, "|PENDING|") != 4 {
		t.Error(text)
	}
}

// B-134: tasks of leases that count are found again, and the others are cancelled.
func TestAdoptsTasks(t *testing.T) {
	b := newBench(t)
	const note = "NONE|N/A|tunehost:pack:1*1c0g|\n"
	b.write("jobs", "8|7_1|th-a-1000+|RUNNING|None|n1|"+note+"9|7_2|th-a-1000+|RUNNING|None|n1|"+note+
		"10|7_3|th-a-1000+|COMPLETED|None|n1|"+note+"7|7_4|th-a-1000+|PENDING|Priority||"+note+
		"7|7_5|th-a-1000+|PENDING|Priority||"+note+"7|7_1|th-b-1000+|RUNNING|None|n1|"+note+
		// another job of a lease: the older one is its job
		"12|12|th-a-1001|PENDING|Priority||"+note, 0o600)
	b.must(b.Adopt(t.Context(), []string{"th-a-1001", "th-a-1003", "th-a-1004", "th-a-1"}))
	b.looks()
	b.looks()
	b.tasks("7_1 RUNNING", "7_2 CANCELLED", "7_3 COMPLETED", "7_4 PENDING", "7_5 CANCELLED", "7_1 RUNNING",
		"12 CANCELLED")
	b.heard = sorted(b.heard)
	b.says("th-a-1 lost: Slurm has no job for this lease", "th-a-1001 granted n1",
		"th-a-1003 lost: Slurm: COMPLETED: the job ended by itself; it was on the node n1; ExitCode 0:15",
		strings.Replace(queued, "-1", "-1004", 1))
}

// Only a task of an array with the experiment's prefix has the name of another lease than its job.
func TestLeaseNames(t *testing.T) {
	for _, c := range []struct{ name, job, want string }{
		{"th-a-0+", "123_17", "th-a-17"},
		{"th-a-12000+", "123_999", "th-a-12999"},
		{"th-a-17", "123", "th-a-17"},
		{"th-a-17", "123_4", "th-a-17"},
		{"th-a-0+", "123", "th-a-0+"},
		{"th-a-0+", "123_[1-3]", "th-a-0+"},
		{"th-a-x+", "123_1", "th-a-x+"},
	} {
		if got := (&job{name: c.name, leader: c.job}).leaseName("th-a-"); got != c.want {
			t.Errorf("%s of %s is the lease %s, want %s", c.job, c.name, got, c.want)
		}
	}
}

// Arguments of the user that mean something else in an array keep leases apart.
func TestNoArrays(t *testing.T) {
	for arg, none := range map[string]bool{
		"--dependency=singleton": true, "--error=/x/%x.log": true, "--nice=1": false,
	} {
		b := newBench(t)
		b.Args = []string{arg}
		b.submits(several(1, 2, 3, 4)...)
		if got := !strings.Contains(b.read("submissions"), arrayMark); got != none {
			t.Errorf("%s: no array: %v, want %v", arg, got, none)
		}
	}
}

// The script of an array has the values of the task's lease, and goes on as that of a single job.
func TestScriptOfAnArray(t *testing.T) {
	b := newBench(t)
	b.x.Agent = &sdk.Agent{Path: filepath.Join(b.dir, "agent.sh")}
	b.write("agent.sh", "#!/bin/sh\necho $TUNEHOST_AGENT $SLURM_JOB_NAME ${SLURM_ARRAY_TASK_ID-none} > told\n", 0o755)
	leases := several(1, 2, 3, 1004, 1005, 1006, 1007)
	for i := range leases {
		leases[i].Agent = fmt.Sprint("secret'", i)
	}
	b.submits(leases...)
	for index, want := range map[string]string{"4": "secret'3 th-a-1004 none", "7": "secret'6 th-a-1007 none"} {
		cmd := exec.CommandContext(t.Context(), "bash")
		cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(b.read("script.1"))
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID="+index, "SLURM_ARRAY_JOB_ID=1",
			"SLURM_JOB_NAME=th-a-1000+")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.TrimSpace(b.read("told")); got != want {
			t.Errorf("the agent of the task %s was told %q, want %q", index, got, want)
		}
	}
}
