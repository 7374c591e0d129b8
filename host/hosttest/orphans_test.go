package hosttest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// spawning starts processes in every manner of leaving a program: in its group,
// in a session of their own, handed to another parent, and without the
// environment by which they could be known.
const spawning = `
#!/bin/sh
touch "$PWD/kept"
tail -f "$PWD/kept" &
setsid tail -f "$PWD/kept" &
(setsid sh -c 'tail -f "$PWD/kept" & exit' &)
f="$PWD/kept"
(cd /; env -i setsid sh -c "tail -f $f & exec tail -f $f" &)
(cd /; env -i setsid sh -c "tail -f $f & exit" > /dev/null 2>&1 &)
while [ "$(pgrep -f "tail -f $f" | wc -l)" -lt 6 ]; do sleep 0.02; done
echo '{"score": 1}'
touch ready
exec tail -f "$f"
`

// stay is an experiment whose trials do not end, with processes that do not
// either.
func stay(t *testing.T, trainable, rest string) *experiment {
	x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: `+trainable+`
space: {}
trials: 2
stop_grace: 1s
`+rest, map[string]string{"spawn.sh": spawning})
	x.Resources = "cpu=2"
	return x
}

var staying = map[string]string{
	"command": `{command: ["./spawn.sh"]}`,
	"chaos":   `{plugin: chaos, options: {iterations: 100000, sleep: 0.05, fork_children: 2, detach_children: true}}`,
}

// B-025: however a host ends, nothing that it has started is left; every test
// checks that at its end.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	signals := map[string][]os.Signal{
		"interrupt": {syscall.SIGINT},
		"terminate": {syscall.SIGTERM},
		"abort":     {syscall.SIGINT, syscall.SIGINT},
		"kill":      {syscall.SIGKILL},
	}
	for kind, trainable := range staying {
		t.Run(kind, func(t *testing.T) {
			t.Run("finished", func(t *testing.T) {
				x := stay(t, trainable, "stop: {iteration: 1}\n")
				x.run(t, 0)
				none(t, x)
			})
			t.Run("out of time", func(t *testing.T) {
				x := stay(t, trainable, "budget: {time: 1s}\n")
				x.run(t, 0)
				none(t, x)
			})
			for name, list := range signals {
				t.Run(name, func(t *testing.T) {
					x := stay(t, trainable, "")
					p := x.start(t)
					x.awaitResults(t, p, 2)
					for i, s := range list {
						if i > 0 {
							time.Sleep(10 * time.Millisecond) // or the second finds the first untaken
						}
						p.signal(t, s)
					}
					<-p.exit
					if name != "kill" {
						none(t, x) // and not only soon
					}
				})
			}
		})
	}
}

// stray is a trainable whose trials start a process that nothing can be told by: its
// session, its environment and its parent are others. It stays in the trial's directory.
var stray = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "stray", Version: "1.0.0", Summary: "Leaves processes behind.",
		Options: []byte(`{"type": "object"}`)},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) { return strays{}, sdk.TrainableTraits{}, nil },
}

type strays struct{}

func (strays) Train(ctx context.Context, run sdk.Run) error {
	dir := run.Trial().Dir
	c := exec.Command("sh", "-c", `touch kept; (env -i setsid tail -f "$PWD/kept" > /dev/null 2>&1 &)`)
	c.Dir = dir
	if err := c.Run(); err != nil {
		return err
	}
	if err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}}, nil); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// B-025: a host that is killed, and whose experiment is resumed at once, leaves nothing, not even what
// has left its parent, its session and its environment; and it ends nothing of the
// user's in a trial's directory.
func TestKilledAndResumedAtOnce(t *testing.T) {
	t.Parallel()
	for kind, trainable := range map[string]string{"command": staying["command"], "plugin": "{plugin: stray}"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			x := stay(t, trainable, "")
			p := x.start(t)
			x.awaitResults(t, p, 2)
			users := bystander(t, x.trials(t)[0])
			for range 5 {
				old := escaped(x)
				if len(old) < 2 {
					t.Fatalf("the trials have started no processes: %v", old)
				}
				p.kill(t)
				p = x.start(t)
				x.await(t, p, func() bool { return fresh(x, old) })
				for pid := range old {
					if now := escaped(x); now[pid] != "" {
						t.Errorf("%s (%s) has survived its host", pid, now[pid])
					}
				}
				x.await(t, p, func() bool { return len(escaped(x)) >= 2 })
			}
			p.signal(t, syscall.SIGINT)
			<-p.exit
			if left := escaped(x); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", users.Process.Pid))
			if err != nil || !strings.Contains(string(stat), ") S ") {
				t.Errorf("the user's own process in a trial's directory was ended: %s, %v", stat, err)
			}
		})
	}
}

// bystander is a process of the user's in a directory, in a session of its own.
func bystander(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.Dir, c.Env, c.SysProcAttr = dir, []string{}, &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	return c
}

// escaped are the processes that trials have started beside themselves, by id.
func escaped(x *experiment) map[string]string {
	found := map[string]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if line := strings.ReplaceAll(string(text), "\x00", " "); strings.HasPrefix(line, "tail -f "+x.dir) {
			found[filepath.Base(filepath.Dir(f))] = line
		}
	}
	return found
}

// fresh says whether a process is there that was not among the old ones.
func fresh(x *experiment, old map[string]string) bool {
	for pid := range escaped(x) {
		if old[pid] == "" {
			return true
		}
	}
	return false
}

// none checks that nothing is left now.
func none(t *testing.T, x *experiment) {
	t.Helper()
	for _, left := range hosttest.Processes(filepath.Dir(x.File)) {
		if !strings.Contains(left, "plugin-reaper") { // it has done its work, and is about to end
			t.Errorf("still running: %s", left)
		}
	}
}

// awaitResults waits until so many trials have reported.
func (x *experiment) awaitResults(t *testing.T, p *process, trials int) {
	t.Helper()
	x.await(t, p, func() bool {
		n := 0
		for _, dir := range x.trials(t) {
			if len(hosttest.Lines(t, filepath.Join(dir, "result.jsonl"))) > 0 {
				n++
			}
		}
		return n >= trials
	})
}

// await waits for something to become true while the host runs.
func (x *experiment) await(t *testing.T, p *process, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		ended := p.cmd.Process.Signal(syscall.Signal(0)) != nil
		if ended && ok() { // between the question and its end
			return
		}
		if ended || time.Now().After(end) {
			p.signal(t, syscall.SIGQUIT)
			t.Fatalf("the host did not get so far:\n%s", p.out.String())
		}
	}
}
