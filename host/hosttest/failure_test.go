package hosttest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

// chaotic is an experiment of one chaos trial with these knobs.
func chaotic(t *testing.T, knobs, rest string) *experiment {
	return write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 4, `+knobs+`}}
space: {}
trials: 1
`+rest, nil)
}

// B-070: the message has how the process ended, its last words, and where they are; of a process without last words,
// it names no file.
func TestFailuresOfAProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		knobs string
		want  string
	}{
		"exit": {"crash_at: 2, crash: exit, exit_code: 7, flood_output: 2",
			`exited with status 7.*its stderr, in .*/trials/.*/stderr, ends: .*line 1 on stderr`},
		"kill":  {"crash_at: 2, crash: kill", `was ended by signal 9 \(killed\) in Train$`},
		"panic": {"crash_at: 2, crash: panic_elsewhere", `exited with status 2(.|\n)*(panic|goroutine)`},
		"hang":  {"hang_at: 2, stubborn: true", `silent for 1s`},
		"error": {"fail_at: 2", `chaos`},
	} {
		t.Run(name, func(t *testing.T) {
			x := chaotic(t, c.knobs, "")
			if name == "hang" {
				x.edit(t, "plugin: chaos,", "plugin: chaos, deadline: 1s,")
			}
			x.run(t, exitErrored)
			v := x.look(t).Now().Machine.View(0)
			if v.State != core.Errored || !regexp.MustCompile(c.want).MatchString(v.Reason()) {
				t.Errorf("%v, which is not %q: %s", v.State, c.want, v.Reason())
			}
			file, err := os.ReadFile(filepath.Join(x.trials(t)[0], "error.txt"))
			if err != nil || !strings.Contains(string(file), strings.SplitN(v.Reason(), "\n", 2)[0]) {
				t.Errorf("error.txt: %v %s", err, file)
			}
			hosttest.CheckReplay(t, x.dir, plugged)
		})
	}
}

// B-070, for a program.
func TestFailureOfAProgram(t *testing.T) {
	t.Parallel()
	x := program(t, `
#!/bin/sh
echo '{"score": 1}'
echo 'no luck today' >&2
exit 3
`, "")
	x.run(t, exitErrored)
	reason := x.look(t).Now().Machine.View(0).Reason()
	wants(t, reason, "exit status 3", "no luck today", filepath.Join(x.trials(t)[0], "stderr"))
}

// program is an experiment of one trial of a script.
func program(t *testing.T, script, rest string) *experiment {
	return write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: ["./train.sh"]}
space: {}
trials: 1
`+rest, map[string]string{"train.sh": script})
}

// B-071, B-072: failures that are retried are counted and not told; the last one
// is told once.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fails string
		state core.State
		exit  int
		told  int
	}{
		{"2", core.Terminated, 0, 0},
		{"9", core.Errored, exitErrored, 1},
	} {
		x := chaotic(t, "crash_at: 3, crash: kill, fail_times: "+c.fails,
			"failures: {retries: 2}\ncheckpoint: {every: 1}\n")
		x.run(t, c.exit)
		e := x.look(t)
		told := 0
		err := e.Replay(func(m view.Moment) error {
			if m.Kind == core.SawFailed && m.To == core.ToAll {
				told++
			}
			return nil
		})
		if v := e.Now().Machine.View(0); err != nil || v.State != c.state || v.Attempt != 3 || told != c.told {
			t.Errorf("%v after %d attempts, told %d times (%v)", v.State, v.Attempt, told, err)
		}
		if r := hosttest.Lines(t, filepath.Join(x.trials(t)[0], "result.jsonl")); c.state == core.Terminated &&
			len(r) != 4 {
			t.Errorf("%d results", len(r))
		}
	}
}

// B-073
func TestFailFast(t *testing.T) {
	t.Parallel()
	const two = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 100000, sleep: 0.01, quality: 0.5}}
space: {crash_at: {grid: [0, 5]}}
searcher: grid
failures: {fail_fast: %}
`
	x := write(t, strings.Replace(two, "%", "true", 1), nil)
	x.run(t, exitErrored)
	if m := x.look(t).Now().Machine; m.State(0) != core.Terminated || m.State(1) != core.Errored {
		t.Errorf("%v and %v", m.State(0), m.State(1))
	}
	x = write(t, strings.Replace(two, "%", "raise", 1), nil)
	wants(t, x.run(t, exitFailed), "exited with status 1")
}

// B-074: a program that cannot be started fails its trial, at once, and others
// continue.
func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: ["{program}"]}
space: {program: {grid: [./broken.sh, /bin/true]}}
searcher: grid
strict_metrics: false
failures: {retries: 5}
`, nil)
	broken := filepath.Join(filepath.Dir(x.File), "broken.sh")
	if err := os.WriteFile(broken, []byte("#!/nowhere/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x.run(t, exitErrored)
	m := x.look(t).Now().Machine
	if v := m.View(0); v.State != core.Errored || v.Attempt != 1 || !strings.Contains(v.Reason(), "broken.sh") {
		t.Errorf("%v after %d attempts: %s", v.State, v.Attempt, v.Reason())
	}
	if m.State(1) != core.Terminated {
		t.Errorf("the other is %v", m.State(1))
	}
}

const tidy = `
#!/bin/sh
trap 'echo begun >> own.log; sleep %; echo done >> own.log; exit 0' TERM
echo '{"score": 1}'
while :; do sleep 0.05; done
`

// B-023
func TestStopGrace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grace, cleanup, want string
	}{
		{"stop_grace: 5s\n", "3600", "begun\n"},
		{"stop_grace: 10m\n", "2", "begun\ndone\n"},
	} {
		x := program(t, strings.Replace(tidy, "%", c.cleanup, 1), "stop: {iteration: 1}\n"+c.grace)
		x.run(t, 0)
		own, err := os.ReadFile(filepath.Join(x.trials(t)[0], "own.log"))
		if err != nil || string(own) != c.want {
			t.Errorf("with %q: %q, %v", c.grace, own, err)
		}
	}
}

// B-023: a plugin that does not stop is killed when its grace is over; the host
// does not wait for its cleanup.
func TestStubbornPlugin(t *testing.T) {
	t.Parallel()
	x := chaotic(t, "sleep: 0.05, ignore_term: true, stop_delay: 3600", "stop: {iteration: 2}\nstop_grace: 1s\n")
	x.edit(t, "iterations: 4", "iterations: 100000")
	x.run(t, 0)
	if s := x.look(t).Now().Machine.State(0); s != core.Terminated {
		t.Error(s)
	}
}

// A scheduler that forgets the trials that it has paused ends the experiment,
// saved, and does not hang it; so it does when the experiment is taken up again.
func TestForgottenTrials(t *testing.T) {
	t.Parallel()
	x := chaotic(t, "quality: 0.5", "scheduler: forgetful\n")
	wants(t, x.run(t, exitFailed), "scheduler forgetful keeps 1 trial paused")
	x.run(t, exitFailed)
	if s := x.look(t).Now().Machine.State(0); s != core.Paused {
		t.Error(s)
	}
}
