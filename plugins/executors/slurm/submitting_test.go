package slurm

import (
	"context"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

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
		false: "/no/tunehost is not on n1: put tunehost where all nodes see it (the option program names its path " +
			"there), or set send: true",
		true: "the program was not sent to n1",
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
	b.says("th-a-1 lost: Slurm: FAILED: the job failed; ExitCode 127:0")
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
