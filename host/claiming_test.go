package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// usersGPU is an experiment whose one trial shows its GPU and ends when the file go is
// there.
const usersGPU = `
version: 1
objective: {metric: x, mode: max}
trainable:
  command: [sh, -c,
	'echo "{{\"x\": 1}}"; touch began; while [ ! -e %s ]; do sleep 0.01; done; echo "gpus=$CUDA_VISIBLE_DEVICES" >&2']
space: {}
trials: 1
resources: {cpu: 9999, gpu: 1}
`

// onGPU is the experiment in a folder of its own; it ends when the file end is there.
func onGPU(t *testing.T, name, end, more string) (Options, *testplace.Screen) {
	t.Helper()
	o, seen := quiet(t, "name: "+name+"\n"+fmt.Sprintf(strings.TrimPrefix(usersGPU, "\n"), end)+more)
	o.Resources, o.Share = "cpu=9999,gpu=2", false
	return o, seen
}

// inBackground runs an experiment until its file end is made, which finish does.
func inBackground(t *testing.T, name, more string) (dir string, seen *testplace.Screen, finished func() Ended) {
	t.Helper()
	end := filepath.Join(t.TempDir(), "end")
	o, seen := onGPU(t, name, end, more)
	done := make(chan Ended, 1)
	go func() {
		ended, err := run(t.Context(), o)
		if err != nil {
			t.Error(err)
		}
		done <- ended
		close(done)
	}()
	began := filepath.Join(o.Storage, name, "trials", "*", "began")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if found, _ := filepath.Glob(began); len(found) > 0 {
			break
		}
		if time.Now().After(deadline) || len(done) > 0 {
			t.Fatalf("%s does not begin: %s", name, seen)
		}
	}
	return filepath.Join(o.Storage, name), seen, func() Ended {
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Error(err)
		}
		return <-done
	}
}

// B-138: two hosts on one machine do not give out the same GPU, unless they are told
// to; who finds none hears whose they are.
func TestGPUsAreClaimed(t *testing.T) {
	testplace.Alone(t)
	now := filepath.Join(t.TempDir(), "now")
	if err := os.WriteFile(now, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirA, _, finishA := inBackground(t, "first", "")
	dirB, seenB, finishB := inBackground(t, "second", "")
	if text := seenB.String(); strings.Contains(text, "used by other experiments") ||
		!strings.Contains(text, "this machine has") ||
		!strings.Contains(text, "experiment first ("+dirA) {
		t.Errorf("the second experiment has a GPU of its own, and no CPU; it says: %s", text)
	}
	third, _ := onGPU(t, "third", now, "")
	text := refused(t, third)
	contains(t, text, "a trial needs 1 of this machine's 2 GPUs, and 0 are free", "experiment first ("+dirA+", process",
		"experiment second ("+dirB, "--share")
	if strings.Contains(text, "\n") {
		t.Errorf("not one line: %s", text)
	}
	if third.Share = true; trialFile(t, finish(t, third).Dir, "00000", "stderr") != "gpus=0\n" {
		t.Error("what is shared is not GPU 0")
	}
	if got := trialFile(t, finishA().Dir, "00000", "stderr") +
		trialFile(t, finishB().Dir, "00000", "stderr"); got != "gpus=0\ngpus=1\n" {
		t.Errorf("the GPUs are %s", got)
	}
	fourth, seen := onGPU(t, "fourth", now, "")
	if got := trialFile(t, finish(t, fourth).Dir, "00000", "stderr"); got != "gpus=0\n" {
		t.Errorf("after the others have ended there is %s", got)
	}
	if strings.Contains(seen.String(), "experiment first") {
		t.Errorf("an experiment that has ended is spoken of: %s", seen)
	}
}

// B-138: with wait_for_resources an experiment begins when another has given its GPUs back,
// and says whose it waits for.
func TestGPUsAreWaitedFor(t *testing.T) {
	testplace.Alone(t)
	end := filepath.Join(t.TempDir(), "end")
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, _, finishFirst := inBackground(t, "first", "")
	o, seen := onGPU(t, "second", end, "wait_for_resources: true\n")
	o.Resources = "cpu=9999,gpu=1"
	done := make(chan Ended, 1)
	go func() { done <- finish(t, o) }()
	want := "no trial can start yet, and the experiment waits (wait_for_resources): a trial needs 1 of this " +
		"machine's " +
		"1 GPUs, " +
		"and 0 are free: experiment first (" + dir
	seen.Await(t, want)
	finishFirst()
	if ended := <-done; trialFile(t, ended.Dir, "00000", "stderr") != "gpus=0\n" {
		t.Error("the second experiment did not get the GPU")
	}
	if n := strings.Count(seen.String(), "the experiment waits"); n != 1 {
		t.Errorf("it was said %d times: %s", n, seen)
	}
}

// An experiment that waits for another's GPUs can be interrupted, and leaves nothing behind.
func TestWaitingIsInterrupted(t *testing.T) {
	testplace.Alone(t)
	_, _, finishFirst := inBackground(t, "first", "")
	o, seen := onGPU(t, "second", "/", "wait_for_resources: true\n")
	o.Resources = "cpu=9999,gpu=1"
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := run(ctx, o); done <- err }()
	seen.Await(t, "the experiment waits")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	finishFirst()
}

// B-138: a claim that cannot be read may be of any GPU: no trial gets one.
func TestUnreadableClaim(t *testing.T) {
	testplace.Alone(t)
	_, _, finishFirst := inBackground(t, "first", "")
	claims, err := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "tunehost", "*", "*", "claim.json"))
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	if err := os.WriteFile(claims[0], []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, _ := onGPU(t, "second", "/", "")
	contains(t, refused(t, o), claims[0], "cannot be read, and may be of any GPU", "--share")
	o, seen := onGPU(t, "third", "/", "")
	o.Sets = []string{"resources.gpu=0"}
	finish(t, o)
	contains(t, seen.String(), "what another experiment uses of this machine cannot be read: "+claims[0])
	finishFirst()
}

// B-138: an experiment that can use more continues with the GPUs that are left, and says so.
func TestSomeGPUsAreLeft(t *testing.T) {
	testplace.Alone(t)
	dir, _, finishA := inBackground(t, "first", "")
	now := filepath.Join(t.TempDir(), "now")
	if err := os.WriteFile(now, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, seen := onGPU(t, "many", now, "")
	o.Sets, o.Resources = []string{"trials=4"}, "cpu=39996,gpu=2"
	ended := finish(t, o)
	for i := range 4 {
		if got := trialFile(t, ended.Dir, fmt.Sprintf("%05d", i), "stderr"); got != "gpus=1\n" {
			t.Errorf("trial %d: %s", i, got)
		}
	}
	contains(t, seen.String(), "1 of this machine's 2 GPUs are used by other experiments and left to them: experiment "+
		"first ("+dir)
	finishA()
}

// An experiment that uses no GPU claims none, and one line is all that is said of CPUs.
func TestNoGPUNoClaim(t *testing.T) {
	testplace.Alone(t)
	_, _, finishA := inBackground(t, "first", "")
	o, seen := onGPU(t, "cpus", "/", "")
	o.Sets, o.Resources = []string{"resources.gpu=0", "trials=3"}, "cpu=29997,gpu=1"
	ended := finish(t, o)
	if got := trialFile(t, ended.Dir, "00000", "stderr"); got != "gpus=\n" {
		t.Errorf("it has %s", got)
	}
	if strings.Contains(seen.String(), "used by other experiments") {
		t.Errorf("%s", seen)
	}
	finishA()
}
