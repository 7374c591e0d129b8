package hosttest_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/view"
)

// long is an experiment that lasts some seconds.
const long = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 30, sleep: 0.08, any_params: true}}
space: {quality: {uniform: [0, 1]}}
checkpoint: {every: 10}
searcher: random
scheduler: {plugin: asha, max: 30}
trials: 5
`

// endless is one that does not end by itself.
var endless = strings.NewReplacer("iterations: 30", "iterations: 1000000", "max: 30", "max: 1000000").Replace(long)

// learning is one whose trials save when they are told to stop. They continue for long.
const learning = `
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {lr: {loguniform: [0.01, 0.1]}, units: 64, layers: 2, epochs: 1000000}
checkpoint: {every: 20}
trials: 5
`

// interrupted is an experiment that was interrupted half way, when so many trials had
// reported; held, it continues without a gate.
func interrupted(t *testing.T, yaml string, trials int) *experiment {
	t.Helper()
	x := write(t, yaml, nil)
	p := x.start(t)
	x.awaitResults(t, p, trials)
	p.signal(t, syscall.SIGINT)
	p.ends(t, exitInterrupted)
	x.letGo(t)
	return x
}

// B-024, B-084: an interrupted experiment is saved, and continues.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	x := interrupted(t, learning, 3)
	e, err := view.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m := e.Now().Machine
	if outcome, _ := m.Outcome(); outcome != core.InterruptedByUser || m.Count(core.Running) > 0 ||
		m.Count(core.Pending) == 0 {
		t.Errorf("%v with %d running and %d pending", outcome, m.Count(core.Running), m.Count(core.Pending))
	}
	for no := range core.TrialNo(m.Trials()) {
		if v := m.View(no); v.Iteration > 0 && v.State == core.Pending && v.Checkpoint.Iteration != v.Iteration {
			t.Errorf("trial %d was at iteration %d, its checkpoint is of %d", no, v.Iteration, v.Checkpoint.Iteration)
		}
	}
	x.edit(t, "trials: 5", "trials: 5\nstop: {iteration: 40}")
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

// B-024: the second signal leaves at once, and loses nothing that was recorded.
func TestAbort(t *testing.T) {
	t.Parallel()
	x := write(t, held+"stop_grace: 1h\n", nil)
	x.Sets = []string{"trainable.options.ignore_term=true", "trainable.options.stop_delay=3600"}
	p := x.start(t)
	x.awaitResults(t, p, 3)
	p.signal(t, syscall.SIGINT)
	x.await(t, p, func() bool { return closing(t, x) })
	p.signal(t, syscall.SIGINT)
	p.ends(t, exitAborted)
	x.letGo(t)
	x.Sets = []string{"trainable.options.ignore_term=true", "trainable.options.stop_delay=3600", "stop_grace=100ms"}
	x.run(t, 0)
	hosttest.CheckFinished(t, x.dir, 5)
	hosttest.CheckReplay(t, x.dir, plugged)
}

func closing(t *testing.T, x *experiment) bool {
	e, err := view.Open(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.Now().Machine.Closing()
}
