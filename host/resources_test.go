package host

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/host/view"
)

// B-036: with overcommit one trial runs beyond what is free, and no second one. Each trial
// waits until another has begun, which happens only beyond the one CPU.
func TestOvercommit(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c,
	'touch ../begun-$TUNEHOST_TRIAL_ID; until [ $(ls ../begun-* | wc -l) -ge 2 ]; do sleep 0.01; done; echo `+
		`"{{\"score\": 1}}"']
  deadline: 60s
space: {x: {uniform: [0, 1]}}
overcommit: true
trials: 6
`)
	o.Resources = "cpu=1"
	ended := finish(t, o)
	m := audit(t, ended.Dir, func(m *core.Machine, _ core.Event) {
		if m.Running() == 2 && !strings.HasPrefix(fmt.Sprint(m.Usage()), "[cpu 2/1") {
			t.Errorf("two trials run and %s is in use", m.Usage())
		}
	})
	if got := mostRunning(t, ended.Dir); got != 2 || m.Count(core.Terminated) != 6 {
		t.Errorf("%d trials ran at a time, want 2; %d ended well", got, m.Count(core.Terminated))
	}
}

// B-038: an amount may depend on the trial's parameters, for any program.
func TestComputedAmounts(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{{\"score\": 1}}"']}
space: {workers: {grid: [1, 2, 9]}, lr: 0.5}
searcher: grid
resources: {cpu: "workers + lr", memory: "workers * 1000"}
trials: 1
`)
	o.Resources = "cpu=4,memory=1MB"
	ended := finish(t, o)
	want := map[string]string{"1": "cpu 1.5, memory 1kB", "2": "cpu 2.5, memory 2kB"}
	m := audit(t, ended.Dir, func(m *core.Machine, e core.Event) {
		if started, ok := e.(*core.AttemptStarted); ok {
			workers := string(regexp.MustCompile(`"workers":(\d)`).FindSubmatch(m.Params(started.Trial))[1])
			if got := m.Request(started.Trial).String(); got != want[workers] {
				t.Errorf("a trial of %s workers asks for %s, want %s", workers, got, want[workers])
			}
		}
	})
	if m.Count(core.Terminated) != 2 || m.Count(core.Errored) != 1 {
		t.Errorf("%d ended well and %d failed; one asks for more than there is", m.Count(core.Terminated),
			m.Count(core.Errored))
	}
}

// B-091: with one name both outputs are in one file, in the order in which they came.
func TestOneLogForBoth(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo out; echo err >&2; echo "{{\"score\": 1}}"']}
log: both.txt
trials: 1
`)
	ended := finish(t, o)
	if got := trialFile(t, ended.Dir, "00000", "both.txt"); !strings.Contains(got, "out\n") ||
		!strings.Contains(got, "err\n") {
		t.Errorf("both.txt has %q", got)
	}
}

// B-035: where even the least that a trial may ask for fits nowhere, nothing begins; where
// only some are too large, those fail, whatever is drawn first.
func TestComputedAmountsThatNeverFit(t *testing.T) {
	const file = `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{\"score\": 1}"']}
space: {workers: {int: [%d, 9]}}
resources: {cpu: workers}
searcher: {plugin: grid}
trials: 4
`
	for seed := range 5 {
		o, _ := quiet(t, strings.Replace(fmt.Sprintf(file, 1), "searcher: {plugin: grid}", fmt.Sprint("seed: ", seed),
			1))
		o.Resources = "cpu=2"
		if m := audit(t, finish(t, o).Dir, nil); m.Trials() != 4 {
			t.Errorf("seed %d: %d trials", seed, m.Trials())
		}
	}
	o, _ := quiet(t, strings.Replace(fmt.Sprintf(file, 5), "searcher: {plugin: grid}", "seed: 1", 1))
	o.Resources = "cpu=2"
	contains(t, refused(t, o), "asked for cpu 5", "cpu 2")
}

// B-031: two trials share a GPU, both see it, and no third one runs.
func TestFractionsOfAGPU(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "devices=$CUDA_VISIBLE_DEVICES" >&2; echo "{{\"score\": 1}}"']
space: {x: {uniform: [0, 1]}}
resources: {cpu: 1, gpu: 0.5}
trials: 6
`)
	o.Resources = "cpu=4,gpu=1"
	ended := finish(t, o)
	if got := mostRunning(t, ended.Dir); got != 2 {
		t.Errorf("%d trials ran at a time, want 2", got)
	}
	for i := range 6 {
		if got := trialFile(t, ended.Dir, fmt.Sprintf("%05d", i), "stderr"); got != "devices=0\n" {
			t.Errorf("trial %d saw %q", i, got)
		}
	}
}

// B-031: a trial that asks for no GPU sees none.
func TestUnrequestedGPUsAreHidden(t *testing.T) {
	o, seen := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "devices=$CUDA_VISIBLE_DEVICES" >&2; echo "{{\"score\": 1}}"']
`)
	o.Resources = "cpu=4,gpu=2"
	ended := finish(t, o)
	if got := trialFile(t, ended.Dir, "00000", "stderr"); got != "devices=\n" {
		t.Errorf("it saw %q", got)
	}
	// B-040
	if got := strings.Count(seen.String(), "GPUs and no trial asks for one"); got != 1 {
		t.Errorf("warned %d times of idle GPUs, want once:\n%s", got, seen)
	}
}

// B-032
func TestCustomResourcesLimit(t *testing.T) {
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 2, any_params: true}}
space: {x: {uniform: [0, 1]}}
resources: {a: 2}
trials: 5
`)
	o.Resources = "cpu=4,a=2"
	ended := finish(t, o)
	if got := mostRunning(t, ended.Dir); got != 1 {
		t.Errorf("%d trials ran at a time, want 1", got)
	}
}

const neverFits = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
space: {x: {uniform: [0, 1]}}
resources: {cpu: 1, gpu: 4}
`

// B-035: the request, the existing resources, the nearest fit; and nothing has started,
// so that the mended file can start anew.
func TestNeverFits(t *testing.T) {
	o, _ := quick(t, neverFits)
	o.Resources = "cpu=8,gpu=2"
	text := refused(t, o)
	contains(t, text, "asked for cpu 1, gpu 4", "there is cpu 8, gpu 2", "the nearest that fits is", "gpu 2")
	if strings.Contains(text, "\n") {
		t.Errorf("%q is more than a line", text)
	}
	o.Sets = []string{"resources.gpu=2", "trials=3"}
	if ended := finish(t, o); audit(t, ended.Dir, nil).Count(core.Terminated) != 3 {
		t.Errorf("ended %+v", ended)
	}
}

// B-035
func TestWaitsForResources(t *testing.T) {
	o, seen := quick(t, neverFits+"wait_for_resources: true\nbudget: {time: 1s}\n")
	o.Resources, o.Clock = "cpu=8,gpu=2", clocktest.New(20)
	ended := finish(t, o)
	contains(t, seen.String(), ".yaml:5:1: no trial can start until more is available",
		"asked for cpu 1, gpu 4")
	if m := audit(t, ended.Dir, nil); m.Count(core.Errored) != 0 || mostRunning(t, ended.Dir) != 0 {
		t.Errorf("%d trials failed, %d ran", m.Count(core.Errored), mostRunning(t, ended.Dir))
	}
}

const sizes = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: sized}
space: {workers: {grid: [1, 4, 9, 2]}}
`

// B-038: each trial asks for what its parameters say; one that can never fit
// fails with the shortfall, the others run.
func TestTrainableComputesItsRequest(t *testing.T) {
	for name, inProcess := range map[string]bool{"process": false, "in process": true} {
		t.Run(name, func(t *testing.T) {
			o, seen := quick(t, sizes, sized)
			o.Resources, o.Mode.InProcess = "cpu=4,gpu=1,memory=8GiB", inProcess
			if !inProcess {
				o.Plugins = testPlugins
			}
			ended := finish(t, o)
			asked, m := requestsIn(t, ended.Dir)
			for no, want := range []string{"cpu 1", "cpu 4", "cpu 9", "cpu 2"} {
				contains(t, asked[core.TrialNo(no)], want, "gpu 0.5", "memory 1GiB")
			}
			if m.Count(core.Terminated) != 3 || m.State(2) != core.Errored {
				t.Errorf("%d trials ended well, trial 2 is %v", m.Count(core.Terminated), m.State(2))
			}
			contains(t, m.View(2).Reason(), "asked for cpu 9", "there is cpu 4")
			if strings.Contains(seen.String(), "no trial asks for one") {
				t.Errorf("warned of idle GPUs though trials ask for them:\n%s", seen)
			}
		})
	}
}

// B-038, B-104: the user's points and trials that are added ask, too.
func TestPointsAskToo(t *testing.T) {
	o, _ := quick(t, strings.Replace(sizes, "grid: [1, 4, 9, 2]", "int: [1, 2]",
		1)+"points: [{workers: 2}]\ntrials: 2\n", sized)
	o.Resources = "cpu=4,gpu=1,memory=8GiB"
	asked, _ := requestsIn(t, finish(t, o).Dir)
	contains(t, asked[0], "cpu 2", "gpu 0.5")
}

// requests are what all trials asked for when they were made.
func requestsIn(t *testing.T, dir string) (map[core.TrialNo]string, *core.Machine) {
	t.Helper()
	asked := map[core.TrialNo]string{}
	m := audit(t, dir, func(m *core.Machine, _ core.Event) {
		for no := core.TrialNo(len(asked)); int(no) < m.Trials(); no++ {
			asked[no] = m.Request(no).String()
		}
	})
	return asked, m
}

// B-038: the conflict names both, and nothing has started.
func TestTwoRequestsAreAConflict(t *testing.T) {
	for _, second := range []string{"resources: {cpu: 1}", "placement: {bundles: [{cpu: 1}]}"} {
		o, _ := quick(t, sizes+second+"\n", sized)
		text := refused(t, o)
		contains(t, text, filepath.Base(o.File)+":5:", filepath.Base(o.File)+":3:", `trainable "sized"`)
		if _, err := os.Stat(filepath.Join(o.Storage, "test", "experiment.yaml")); err == nil {
			t.Error("the experiment was made all the same")
		}
	}
}

// B-038: a request that cannot be computed ends the experiment, saved, and names
// the trainable and the parameters.
func TestRequestFails(t *testing.T) {
	o, _ := quick(t, strings.Replace(sizes, "[1, 4, 9, 2]", "[1, 13]", 1), sized)
	o.Resources = "cpu=4,gpu=1,memory=8GiB"
	ended := finish(t, o)
	if ended.Outcome != core.Failed {
		t.Fatalf("ended %+v", ended)
	}
	contains(t, ended.Reason, `trainable "sized"`, "13 workers bring bad luck", `{"workers":13}`)
}

// B-042
func TestStatusHasEveryResource(t *testing.T) {
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {any_params: true}}
space: {x: {uniform: [0, 1]}}
resources: {cpu: 2, gpu: 0.5, a: 1}
trials: 2
`)
	o.Resources = "(cpu=4,gpu=1,a=3)"
	dir := finish(t, o).Dir
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h, err := history.Open(e.Dir.Journal())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	err = h.Each(func(s *history.Step) error {
		if s.Machine.Running() != 2 {
			return nil
		}
		var got []string
		for _, u := range view.NewState(e.Facts, h).CurrentStatus().Resources {
			got = append(got, u.String())
		}
		slices.Sort(got)
		if want := []string{"a 2/3", "cpu 4/4", "gpu 1/1"}; !slices.Equal(got, want) {
			t.Errorf("the status has %v, want %v", got, want)
		}
		return nil
	})
	if n := h.Machine().Trials(); err != nil || n != 2 {
		t.Errorf("%d trials, %v", n, err)
	}
}
