package hosttest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

// look opens what a host has left.
func (x *experiment) look(t *testing.T) *view.Recorded {
	t.Helper()
	e, err := view.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// edit changes the experiment file.
func (x *experiment) edit(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(x.File)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%q is not in the file", from)
	}
	put(t, x.File, strings.Replace(string(text), from, to, 1))
}

// B-083
func TestChangesAtResume(t *testing.T) {
	t.Parallel()
	x := interrupted(t, held+"concurrency: 2\n", 2)
	x.edit(t, "uniform: [0, 1]", "uniform: [0, 0.5]")
	x.edit(t, "searcher: random", "searcher: sobol")
	x.edit(t, "trials: 5", "trials: 7")
	x.edit(t, "concurrency: 2", "concurrency: 1")
	x.edit(t, "checkpoint:", "resources: {cpu: 2}\nbudget: {trials_failed: 3}\ncheckpoint:")
	wants(t, x.run(t, 0), "the change of space", "the change of searcher", "is ignored")
	hosttest.CheckFinished(t, x.dir, 7)
	hosttest.CheckReplay(t, x.dir, plugged)
	m := x.look(t).Now().Machine
	if s := m.Spec(); s.Concurrency != 1 || s.Budget.TrialsFailed != 3 ||
		!strings.Contains(m.Request(6).String(), "2") {
		t.Errorf("settings %+v, request %v", s, m.Request(6))
	}
}

// B-083: what a host took and died before it was recorded, the next one takes.
func TestChangeTakenByADeadHost(t *testing.T) {
	t.Parallel()
	x := interrupted(t, held, 3)
	run := filepath.Join(x.dir, "run.json")
	text, err := os.ReadFile(run)
	if err != nil {
		t.Fatal(err)
	}
	put(t, run, strings.Replace(string(text), `"overrides": null`, `"overrides": ["trials=6"]`, 1))
	x.edit(t, "trials: 5", "trials: 6")
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 6)
}

const failing = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 6, fail_at: 4, fail_times: 1}}
space: {quality: {grid: [0.1, 0.9]}}
searcher: grid
checkpoint: {every: 2}
`

// B-082
func TestResumeModes(t *testing.T) {
	t.Parallel()
	x := write(t, failing, nil)
	x.Resume = "local"
	wants(t, x.run(t, exitUser), "there is no experiment to resume", "--resume local")
	x.Resume = "auto"
	x.run(t, exitErrored)
	x.Resume = "local"
	x.run(t, exitErrored) // finished: nothing runs again
	if v := x.look(t).Now().Machine.View(0); v.Attempt != 1 || v.State != core.Errored {
		t.Errorf("after local: %+v", v)
	}
	for mode, restored := range map[string]bool{"errored_only": false, "errored_restart": false,
		"errored_resume": true} {
		t.Run(mode, func(t *testing.T) {
			x := write(t, failing, nil)
			x.run(t, exitErrored)
			x.Resume = mode
			x.run(t, 0)
			hosttest.CheckFinished(t, x.dir, 2)
			hosttest.CheckReplay(t, x.dir, plugged)
			dir := x.look(t).Now().TrialDir(0)
			if _, err := os.Stat(dir + "/error.txt"); err != nil {
				t.Errorf("its files were to stay: %v", err)
			}
			first := hosttest.Lines(t, dir+"/result.jsonl")[0]
			if fresh := first["attempt"] == 2.0; fresh == restored {
				t.Errorf("the first result is of attempt %v", first["attempt"])
			}
		})
	}
}
