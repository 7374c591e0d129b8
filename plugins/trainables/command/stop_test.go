package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// alive reports whether a process that wrote its number to a file is running.
func alive(t testing.TB, run *fakeRun, file string) bool {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(readFile(t, run.trial.Dir, file)))
	if err != nil {
		t.Fatal(err)
	}
	return syscall.Kill(pid, 0) == nil
}

func exists(run *fakeRun, file string) bool {
	_, err := os.Stat(filepath.Join(run.trial.Dir, file))
	return err == nil
}

// B-070
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		o    opts
		want []string
	}{
		"status": {sh(`echo working >&2; printf 'ValueError: \033[31mboom\n' >&2; exit 3`),
			[]string{"sh ended with exit status 3", "/stderr", "working", "ValueError: ?[31mboom"}},
		"signal": {sh(`echo oops >&2; kill -SEGV $$`), []string{"signal 11", "oops"}},
		"killed": {sh(`kill -9 $$`), []string{"signal 9", "memory", "nothing to stderr", "/stdout"}},
		"no log": {sh(`echo oops >&2; exit 1`).with("log", false), []string{"exit status 1", "not logged", "oops"}},
		"long": {sh(`i=0; while [ $i -lt 1000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1`),
			[]string{"  line 990\n", "  line 999"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := newRun(t)
			if name != "no log" {
				_ = os.WriteFile(filepath.Join(run.trial.Dir, "stderr"), []byte("of an earlier attempt\n"), 0o600)
			}
			err := train(t, c.o, run)
			if err == nil {
				t.Fatal("no error")
			}
			wantContains(t, err.Error(), c.want...)
			for _, no := range []string{"earlier", "line 989"} {
				if strings.Contains(err.Error(), no) {
					t.Errorf("has %q: %v", no, err)
				}
			}
		})
	}
}

// Results printed before a failure are all sent.
func TestResultsBeforeFailure(t *testing.T) {
	run := newRun(t)
	if err := train(t, sh(`echo '{"accuracy":1}'; echo '{"accuracy":2}'; exit 1`), run); err == nil ||
		len(run.results) != 2 {
		t.Errorf("%v, %v", err, run.results)
	}
}

// B-070: a hang past the deadline.
func TestSilence(t *testing.T) {
	patiently(t, func(t *testing.T, seconds float64) bool {
		run := newRun(t)
		err := train(t, sh(`echo begun >&2; touch begun; sleep 100`).with("deadline", seconds), run)
		if err == nil {
			t.Fatal("no error")
		}
		wantContains(t, err.Error(), "silent", fmt.Sprintf("deadline of %v", time.Duration(seconds*1e9)))
		if exists(run, "begun") {
			wantContains(t, err.Error(), "begun")
		}
		return exists(run, "begun")
	})
}

// These do not count as silence: output on stderr, which the program writes to its log itself, and
// waiting for a decision.
func TestNoSilence(t *testing.T) {
	run := newRun(t)
	a := newAttempt(openTest(t, sh("")), run)
	var err error
	if a.stderr, err = openLog(run.trial.Dir, "stderr"); err != nil {
		t.Fatal(err)
	}
	defer a.stderr.close()
	if a.silent() < time.Hour { // nothing was received since 1970
		t.Error("a silent program was heard")
	}
	if _, err := a.stderr.WriteString("x"); err != nil || a.silent() > time.Hour {
		t.Error("stderr is not heard", err)
	}
	a.heard.last.Store(0)
	a.conns.begin()
	if a.silent() > time.Hour {
		t.Error("waiting for a decision is taken for silence")
	}
}

// stopAtFirst is a host that stops the trial at its first result.
func stopAtFirst(sdk.Result) error { return sdk.ErrStopped }

// B-023
func TestStopAsksFirst(t *testing.T) {
	run := newRun(t)
	run.decide = stopAtFirst
	err := train(t, sh(`
		trap 'echo cleaned > cleaned; exit 0' TERM
		echo '{"accuracy":1}'
		while :; do sleep 0.01; done`), run)
	if err != sdk.ErrStopped || !exists(run, "cleaned") {
		t.Errorf("%v, cleaned: %v", err, exists(run, "cleaned"))
	}
}

// B-023
func TestStopKillsAfterGrace(t *testing.T) {
	patiently(t, func(t *testing.T, seconds float64) bool {
		run := newRun(t)
		run.decide = stopAtFirst
		run.trial.GraceSeconds = seconds
		err := train(t, sh(`
			trap 'echo asked > asked' TERM
			sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 0.01; done' &
			while ! [ -s child ]; do sleep 0.01; done
			echo '{"accuracy":1}'
			while :; do sleep 0.01; done`), run)
		if err != sdk.ErrStopped || alive(t, run, "child") {
			t.Errorf("%v, child: %v", err, alive(t, run, "child"))
		}
		return exists(run, "asked")
	})
}

// A stop between reports reaches a silent program, even a suspended one.
func TestStopWithoutReport(t *testing.T) {
	toolchain.Programs(t, "ps")
	run := newRun(t)
	go func() {
		for !exists(run, "ready") {
			time.Sleep(time.Millisecond)
		}
		close(run.stopped)
	}()
	err := train(t, sh(`
		trap 'echo > cleaned; exit 1' TERM
		(until ps -o stat= -p $$ | grep -q T; do sleep 0.01; done; echo > ready) &
		kill -STOP $$
		while :; do sleep 0.01; done`), run)
	if err != sdk.ErrStopped || !exists(run, "cleaned") {
		t.Errorf("%v, cleaned: %v", err, exists(run, "cleaned"))
	}
}

// A program that receives "stop" in an answer may exit by itself.
func TestStopByAnswer(t *testing.T) {
	run := newRun(t)
	run.decide = stopAtFirst
	run.trial.GraceSeconds = 600
	err := train(t, python(t, `
import signal
signal.signal(signal.SIGTERM, lambda *_: open("asked", "w"))
`+pythonChannel+`
assert report(metrics={"accuracy": 1})["decision"] == "stop"
assert report(metrics={"accuracy": 2})["decision"] == "stop"
open("left", "w")
`), run)
	if err != sdk.ErrStopped || !exists(run, "left") || exists(run, "asked") || len(run.results) != 1 {
		t.Errorf("%v, left %v, asked %v, %v", err, exists(run, "left"), exists(run, "asked"), run.results)
	}
}

// B-150: a stop that arrives while a report waits for its answer is in the answer, even if the
// result's own decision was to continue; otherwise it is a signal.
func TestStopWhileAnswering(t *testing.T) {
	a := newAttempt(openTest(t, sh("")), newRun(t))
	a.conns.begin()
	a.conns.stop(sdk.ErrStopped)
	if a.results.verdict() != channel.Continue {
		t.Error("the program is signalled, though it waits for an answer")
	}
	if d := a.conns.answer(channel.Continue); d != channel.Stop || !a.results.wasTold() {
		t.Errorf("it is answered %s; told is %t", d, a.results.wasTold())
	}
	a = newAttempt(openTest(t, sh("")), newRun(t))
	a.conns.begin()
	if d := a.conns.answer(channel.Continue); d != channel.Continue {
		t.Errorf("it is answered %s, and nobody has stopped it", d)
	}
	if a.conns.stop(sdk.ErrStopped); a.results.verdict() != channel.Stop || a.results.wasTold() {
		t.Error("it does not hear of the stop")
	}
}

// B-150: a program that was told to stop has the whole grace time to clean up, without a signal. A
// checkpoint that it reports then is stored.
func TestStopLetsCleanUp(t *testing.T) {
	if got := stopSteps(10*time.Second, true); len(got) != 1 || got[0] != (step{10 * time.Second, syscall.SIGKILL}) {
		t.Errorf("the steps are %v", got)
	}
	run := newRun(t)
	run.decide = stopAtFirst
	run.trial.GraceSeconds = 600
	err := train(t, python(t, pythonChannel+`
assert report(metrics={"accuracy": 1}, iteration=1)["decision"] == "stop"
os.mkdir(".checkpoints/final")
assert report(metrics={"accuracy": 1}, iteration=1, checkpoint=".checkpoints/final")["decision"] == "stop"
`), run)
	if err != sdk.ErrStopped || len(run.results) != 2 || filepath.Base(run.results[1].Checkpoint) != "final" ||
		run.hinted() != "" {
		t.Errorf("%v, %v, %s", err, run.results, run.hinted())
	}
}

// A checkpoint that a program makes while it is paused is passed to the host.
func TestPauseTakesLastCheckpoint(t *testing.T) {
	run := newRun(t)
	run.decide = func(sdk.Result) error { return sdk.ErrPaused }
	err := train(t, sh(`
		trap 'mkdir .checkpoints/last; echo "{\"accuracy\":2,\"checkpoint\":\".checkpoints/last\"}"; exit 0' TERM
		echo '{"accuracy":1}'
		while :; do sleep 0.01; done`), run)
	if !errors.Is(err, sdk.ErrStopped) || len(run.results) != 2 || filepath.Base(run.results[1].Checkpoint) != "last" {
		t.Errorf("%v, %v", err, run.results)
	}
}

// What a program prints between the word to pause and its last checkpoint is passed on, too.
func TestPauseTakesResultsBeforeTheLastCheckpoint(t *testing.T) {
	run := newRun(t)
	run.decide = func(sdk.Result) error { return sdk.ErrPaused }
	err := train(t, sh(`
		trap '' TERM
		mkdir .checkpoints/last
		echo '{"accuracy":1}'
		echo '{"accuracy":2}'
		echo '{"accuracy":3,"checkpoint":".checkpoints/last"}'`), run)
	if !errors.Is(err, sdk.ErrPaused) || len(run.results) != 3 || run.results[1].Iteration != 2 {
		t.Errorf("%v, %v", err, run.results)
	}
}

func TestCancelKillsAtOnce(t *testing.T) {
	run := newRun(t)
	ctx, cancel := context.WithCancel(context.Background())
	run.decide = func(sdk.Result) error { cancel(); <-ctx.Done(); return sdk.ErrStopped }
	p := openTest(t, sh(`trap '' TERM; echo $$ > pid; echo '{"accuracy":1}'; while :; do sleep 0.01; done`))
	run.trial.GraceSeconds = 1e6
	if err := p.Train(ctx, run); !errors.Is(err, sdk.ErrStopped) || alive(t, run, "pid") {
		t.Errorf("%v, alive: %v", err, alive(t, run, "pid"))
	}
}

// B-025: no process of a trial outlives it, however it hides.
func TestLeftovers(t *testing.T) {
	scripts := map[string]string{
		"background": `sleep 1000 & echo $! > pid`,
	}
	if runtime.GOOS == "linux" {
		scripts["setsid"] = `setsid sh -c 'trap "" TERM HUP; echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; ` +
			`do sleep 0.01; done`
		scripts["double fork"] = `(setsid sh -c '(trap "" HUP; sh -c "echo \$PPID > parent; echo \$\$ > pid; exec ` +
			`sleep 1000" ) &' &); while ! [ -s pid ]; do sleep 0.01; done`
		scripts["no environment"] = `setsid env -i sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do ` +
			`sleep 0.01; done`
		scripts["far away"] = `T=$PWD setsid sh -c 'cd /; echo $$ > $T/pid; exec sleep 1000' & while ! [ -s pid ]; ` +
			`do sleep 0.01; done`
		scripts["tree"] = `setsid sh -c 'setsid sh -c "echo \$\$ > pid; sleep 1000; :" & sleep 1000; :' & while ! [ ` +
			`-s pid ]; do sleep 0.01; done`
		scripts["failing"] = `setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; ` +
			`done; exit 1`
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := newRun(t)
			if strings.Contains(script, "setsid") {
				toolchain.Programs(t, "setsid")
			}
			run.trial.ID = "t-" + strings.ReplaceAll(name, " ", "-")
			if err := train(t, sh(script), run); (err != nil) != (name == "failing") {
				t.Fatal(err)
			}
			if alive(t, run, "pid") {
				t.Error("it lives on")
			}
		})
	}
}

// Concurrent trials do not affect each other's processes or reports.
func TestManyTrials(t *testing.T) {
	toolchain.Programs(t, "setsid")
	p := openTest(t, sh(`setsid sh -c 'echo $$ > pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done
		echo "{\"accuracy\": $TUNEHOST_SEED}"; while ! [ -e go ]; do sleep 0.01; done; kill -0 $(cat pid) || exit 1`))
	var all sync.WaitGroup
	runs := make([]*fakeRun, 8)
	for i := range runs {
		run := newRun(t)
		run.trial.ID, run.trial.Seed = fmt.Sprintf("many%d", i), uint64(i)
		runs[i] = run
		// each continues only when the previous one has ended
		all.Go(func() {
			if err := p.Train(t.Context(), run); err != nil {
				t.Error(err)
			}
			if i > 0 {
				_ = os.WriteFile(filepath.Join(runs[i-1].trial.Dir, "go"), nil, 0o600)
			}
		})
	}
	_ = os.WriteFile(filepath.Join(runs[len(runs)-1].trial.Dir, "go"), nil, 0o600)
	all.Wait()
	for i, run := range runs {
		if got := run.values("accuracy"); len(got) != 1 || got[0] != float64(i) {
			t.Errorf("trial %d: %v", i, got)
		}
		if alive(t, run, "pid") {
			t.Errorf("a process of trial %d lives on", i)
		}
	}
}

// The directory of the sockets is private, the sockets are reused, and both are removed when
// nothing runs.
func TestSockets(t *testing.T) {
	given := testplace.Short(t)
	t.Setenv("PLUGIN_UNIX_SOCKET_DIR", given)
	bystander := filepath.Join(given, "ch-thesis")
	if err := os.Mkdir(bystander, 0o700); err != nil {
		t.Fatal(err)
	}
	p := openTest(t, sh(`stat -c %a $(dirname $TUNEHOST_CHANNEL); echo $TUNEHOST_CHANNEL`))
	first, second := newRun(t), newRun(t)
	for _, run := range []*fakeRun{first, second} {
		if err := p.Train(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	out := readFile(t, first.trial.Dir, "stdout")
	mode, path, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if mode != "700" || len(path) > maxSocketPath || out != readFile(t, second.trial.Dir, "stdout") {
		t.Errorf("%s, then %s", out, readFile(t, second.trial.Dir, "stdout"))
	}
	p.sockets.clear()
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) || filepath.Dir(filepath.Dir(path)) != given {
		t.Errorf("%s: the directory stays, or is in another place: %v", path, err)
	}
	if _, err := os.Stat(bystander); err != nil { // B-155
		t.Error(err)
	}
	if err := p.Train(t.Context(), newRun(t)); err != nil { // and comes back
		t.Error(err)
	}
	p.sockets.clear()
}

// dyingHost trains until it is killed.
func dyingHost() {
	p, err := newProgram([]byte(`{"command":["sh","-c","echo $$ > new; mv new pid; exec sleep 1000"]}`))
	if err != nil {
		panic(err)
	}
	run := &fakeRun{trial: sdk.Trial{ID: "dying", Dir: os.Getenv("DYING_HOST")}}
	panic(p.Train(context.Background(), run))
}
