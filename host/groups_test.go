package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// told is what a worker prints of what it was told.
const told = `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'echo "rank=$RANK of=$WORLD_SIZE local=$LOCAL_RANK/$LOCAL_WORLD_SIZE node=$NODE_RANK ` +
	`gpus=$CUDA_VISIBLE_DEVICES" >&2;
    printf %s "$TUNEHOST_BUNDLES" > bundles; echo "{{\"score\": 1}}"']
`

// B-033: bundles are placed as the strategy says, and each has its process, which
// sees the group's devices on its node, on virtual nodes.
func TestStrategies(t *testing.T) {
	for name, c := range map[string]struct {
		placement, nodes string
		want             []string // of each rank
	}{
		"pack": {"{bundles: [{cpu: 1, gpu: 1}, {cpu: 1, gpu: 1}, {cpu: 1, gpu: 1}], strategy: pack, workers: true}",
			"3x(cpu=2,gpu=2)", []string{
				"rank=0 of=3 local=0/2 node=0 gpus=0,1", "rank=1 of=3 local=1/2 node=0 gpus=0,1",
				"rank=2 of=3 local=0/1 " +
					"node=1 gpus=0"}},
		"spread": {"{bundles: [{gpu: 1}, {gpu: 1}, {gpu: 1}, {gpu: 1}], strategy: spread, workers: true}",
			"3x(cpu=2,gpu=2)", []string{
				"rank=0 of=4 local=0/2 node=0 gpus=0,1", "rank=1 of=4 local=0/1 node=1 gpus=0",
				"rank=2 of=4 local=0/1 " +
					"node=2 gpus=0",
				"rank=3 of=4 local=1/2 node=0 gpus=0,1"}},
		"strict_pack": {"{bundles: [{cpu: 2}, {gpu: 1}], strategy: strict_pack, workers: true}",
			"2x(cpu=1,gpu=1)+1x(cpu=2,gpu=1)", []string{
				"rank=0 of=2 local=0/2 node=0 gpus=", "rank=1 of=2 local=1/2 node=0 gpus=0"}},
		"strict_spread": {"{bundles: [{cpu: 1}, {cpu: 1}, {cpu: 1}], strategy: strict_spread, workers: true}",
			"3x(cpu=4)", []string{
				"rank=0 of=3 local=0/1 node=0 gpus=", "rank=1 of=3 local=0/1 node=1 gpus=",
				"rank=2 of=3 local=0/1 node=2 " +
					"gpus="}},
		"one bundle": {"{bundles: [{cpu: 1}], workers: true}", "cpu=1", []string{"rank=0 of=1 local=0/1 node=0 gpus="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := quiet(t, told+"placement: "+c.placement+"\n")
			o.Resources = c.nodes
			ended := finish(t, o)
			for rank, want := range c.want {
				file := "stderr"
				if rank > 0 {
					file += fmt.Sprintf(".%d", rank)
				}
				if got := strings.TrimSpace(trialFile(t, ended.Dir, "00000", file)); got != want {
					t.Errorf("rank %d was told %q, want %q", rank, got, want)
				}
			}
		})
	}
}

// B-033: without workers one process has the whole group, and finds it described. Of
// a GPU that bundles share it is told once.
func TestOneProcessHasTheGroup(t *testing.T) {
	o, _ := quiet(t, told+"placement: {bundles: [{cpu: 1, gpu: 0.5}, {cpu: 2, gpu: 0.5, memory: 1GiB}], strategy: "+
		"spread}\n")
	o.Resources = "(cpu=4,gpu=1,memory=4GiB)"
	ended := finish(t, o)
	if got, want := trialFile(t, ended.Dir, "00000", "stderr"), "rank= of= local=/ node= gpus=0\n"; got != want {
		t.Errorf("it was told %q, want %q", got, want)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, []byte(trialFile(t, ended.Dir, "00000", "bundles"))); err != nil {
		t.Fatal(err)
	}
	want := `[{"rank":0,"node":"node0","resources":{"cpu":"1","gpu":"0.5"},"devices":["0"]},` +
		`{"rank":1,"node":"node0","resources":{"cpu":"2","gpu":"0.5","memory":"1073741824"},"devices":["0"]}]`
	if got.String() != want {
		t.Errorf("it was told\n%s, want\n%s", &got, want)
	}
}

// B-033: a plugin's trial has its bundles, and the sum of them.
func TestPluginsAreToldOfBundles(t *testing.T) {
	var seen sdk.Trial
	look := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "look", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return trainFunc(func(run sdk.Run) error {
				seen = run.Trial()
				return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}, Done: true}, nil)
			}), sdk.TrainableTraits{}, nil
		},
	}
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: look}
placement: {bundles: [{cpu: 1, gpu: 1}, {cpu: 2, gpu: 1}], strategy: strict_spread}
`, look)
	o.Resources = "1x(cpu=1,gpu=1)+1x(cpu=2,gpu=2)"
	finish(t, o)
	var got []string
	for _, b := range seen.Bundles {
		got = append(got, fmt.Sprintf("%s %s %v", b.Node, b.Resources, b.Devices))
	}
	if want := []string{`node0 {"cpu":"1","gpu":"1"} [0]`, `node1 {"cpu":"2","gpu":"1"} [0]`}; !slices.Equal(got,
		want) {
		t.Errorf("bundles %q, want %q", got, want)
	}
	if string(seen.Resources) != `{"cpu":"3","gpu":"2"}` || !slices.Equal(seen.Devices, []string{"0"}) {
		t.Errorf("granted %s, devices %v", seen.Resources, seen.Devices)
	}
}

// B-034: ten trials wait and there is room for two groups: two run at any time until
// all are done, in order. Groups are returned, and no more are held than trials are
// unfinished.
func TestTwoGroupsAtATime(t *testing.T) {
	points := make([]string, 10)
	for i := range points {
		points[i] = fmt.Sprintf("{x: 0.%d}", i)
	}
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{{\"score\": $RANK}}"']}
space: {x: {uniform: [0, 1]}}
points: [`+strings.Join(points, ", ")+`]
trials: 10
placement: {bundles: [{cpu: 1}, {cpu: 1}], strategy: strict_spread, workers: true}
`)
	o.Resources = "2x(cpu=2)"
	ended := finish(t, o)
	full, last := false, core.TrialNo(0)
	m := audit(t, ended.Dir, func(m *core.Machine, e core.Event) {
		waiting, unfinished := m.Count(core.Pending), 10-m.Count(core.Terminated)
		full = full || m.Running() == 2
		if m.Running() > 2 || m.Held() != m.Running() || m.Held() > unfinished {
			t.Errorf("%d run and %d groups are held, with %d unfinished", m.Running(), m.Held(), unfinished)
		}
		if full && m.Running() < 2 && waiting > 0 {
			t.Errorf("after %T only %d run, and %d wait", e, m.Running(), waiting)
		}
		for no := range core.TrialNo(m.Trials()) {
			if m.State(no) != core.Pending && no > last {
				if no != last+1 {
					t.Errorf("trial %d was started after trial %d", no, last)
				}
				last = no
			}
		}
	})
	if !full || m.Count(core.Terminated) != 10 || m.Held() != 0 {
		t.Errorf("%d trials ended well, %d groups are held", m.Count(core.Terminated), m.Held())
	}
	for _, u := range m.Usage() {
		if !u.Used.IsZero() {
			t.Errorf("%s is not returned", u)
		}
	}
}

// A worker's failure is the attempt's: the trial is tried again, and says who failed.
// Runs of one suggestion are groups of their own (B-105).
func TestWorkersFailure(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'if [ $RANK = 0 ]; then if [ ! -e begun ]; then touch begun; exec tail -f /dev/null; fi;
    elif [ ! -e crashed ]; then while [ ! -e begun ]; do sleep 0.01; done; touch crashed; echo "no luck" >&2; exit `+
		`3; fi;
    echo "{{\"score\": $RANK}}"']
space: {x: {uniform: [0, 1]}}
placement: {bundles: [{cpu: 1}, {cpu: 1}], workers: true}
repeat: 2
failures: {retries: 1}
`)
	o.Resources = "cpu=4"
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if m.Count(core.Terminated) != 2 || m.View(0).Attempt != 2 || m.View(1).Attempt != 2 {
		t.Errorf("%d trials ended well, after %d and %d attempts", m.Count(core.Terminated), m.View(0).Attempt,
			m.View(1).Attempt)
	}
	for _, trial := range []string{"00000", "00001"} {
		contains(t, trialFile(t, ended.Dir, trial, "error.txt"), "sh (rank 1) ended with exit status 3: no luck")
	}
}

// B-035: a group that can never be is refused with its reason, by validate too.
func TestImpossibleGroups(t *testing.T) {
	for placement, want := range map[string][]string{
		"{bundles: [{cpu: 1}, {cpu: 1}, {cpu: 1}], strategy: strict_spread}": {
			"asked for strict_spread of 3 × (cpu 1)", "not all together with strict_spread",
			"there is cpu 4 on 2 nodes", "the first 2 of its 3 bundles fit"},
		"{bundles: [{cpu: 2}, {cpu: 1}], strategy: strict_pack, workers: true}": {
			"not all together with strict_pack", "the first 1 of its 2 bundles fit"},
		"{bundles: [{cpu: 1}, {cpu: 3}]}": {"no node has cpu 3 (bundle 2)",
			"the nearest that fits is cpu 2 on node node0"},
	} {
		o, _ := quiet(t, told+"placement: "+placement+"\n")
		o.Resources = "2x(cpu=2)"
		_, err := Validate(t.Context(), o)
		if err == nil {
			t.Errorf("%s is valid", placement)
			continue
		}
		want = append(want, filepath.Base(o.File)+":", ": resources: ",
			"; ask for less, or let trials wait for more with wait_for_resources: true")
		contains(t, err.Error(), want...)
		contains(t, refused(t, o), want...)
	}
}

// Workers are those of a command; a plugin is one process.
func TestWorkersOfAPlugin(t *testing.T) {
	o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: chaos, options: "+
		"{any_params: true}}\n"+
		"placement: {bundles: [{cpu: 1}, {cpu: 1}], workers: true}\n")
	contains(t, refused(t, o), filepath.Base(o.File)+":4:", "placement.workers", `the plugin "chaos"`,
		"leave workers out")
}

// trainFunc is a trainable that is a function.
type trainFunc func(sdk.Run) error

func (f trainFunc) Train(_ context.Context, run sdk.Run) error { return f(run) }

// widener pauses each trial at its first result and has it continue with a group of
// three; it says so with the pause, and again once the trial is paused.
var widener = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "widener", Version: "1", Options: noOptions},
	Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) { return widening{}, sdk.Traits{}, nil },
}

type widening struct{}

func (widening) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	wide := []byte(`{"bundles": [{"cpu": 1}, {"cpu": 1}, {"cpu": 1, "gpu": 1}], "strategy": "strict_spread"}`)
	for _, e := range events {
		switch {
		case e.Kind == sdk.ResultReported && e.Attempt == 1:
			out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resize, Trial: e.Trial, Resources: wide})
			out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Pause, Reason: "wider"})
		case e.Kind == sdk.TrialPaused:
			out.Commands = append(out.Commands, sdk.Command{Kind: sdk.Resize, Trial: e.Trial, Resources: wide},
				sdk.Command{Kind: sdk.Resume, Trial: e.Trial})
		}
	}
	return out, nil
}

// B-037: a scheduler changes what a paused trial asks for; it continues from its
// checkpoint with as many workers as it was granted bundles, and the accounting
// follows. While it still runs nothing is changed.
func TestResourcesChangeWhilePaused(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable:
  command: [sh, -c, 'i=0; [ -z "$TUNEHOST_CHECKPOINT" ] || i=$(cat $TUNEHOST_CHECKPOINT/i); [ $RANK = 0 ] || exit 0;
    i=$((i+1)); d=$TUNEHOST_CHECKPOINT_DIR/$i; mkdir $d; echo $i > $d/i;
    echo "{{\"score\": $i, \"world\": $WORLD_SIZE, \"checkpoint\": \"$d\"}}"; [ $i = 2 ] || exec tail -f /dev/null']
placement: {bundles: [{cpu: 1}, {cpu: 1}], strategy: strict_pack, workers: true}
scheduler: widener
trials: 2
`)
	o.Resources = "1x(cpu=2)+1x(cpu=2,gpu=1)+1x(cpu=2)"
	ended := finish(t, o)
	held := map[string]bool{}
	m := audit(t, ended.Dir, func(m *core.Machine, _ core.Event) {
		narrow, wide := 0, 0
		for no := range core.TrialNo(m.Trials()) {
			switch {
			case m.State(no) != core.Running:
			case m.View(no).Attempt == 1:
				narrow++
			default:
				wide++
			}
		}
		if m.Trials() == 0 {
			return // nodes join
		}
		got := fmt.Sprint(m.Usage())
		if want := fmt.Sprintf("[cpu %d/6 gpu %d/1]", 2*narrow+3*wide, wide); got != want {
			t.Errorf("%d narrow and %d wide run: %s, want %s", narrow, wide, got, want)
		}
		held[got] = true
	})
	if !held["[cpu 3/6 gpu 1/1]"] || m.Count(core.Terminated) != 2 {
		t.Errorf("held %v, %d trials ended well", held, m.Count(core.Terminated))
	}
	for no := range 2 {
		lines := strings.Split(strings.TrimSpace(trialFile(t, ended.Dir, fmt.Sprintf("%05d", no), "result.jsonl")),
			"\n")
		if len(lines) != 2 {
			t.Fatalf("trial %d has %d results", no, len(lines))
		}
		contains(t, lines[0], `"world":2`, `"score":1`)
		contains(t, lines[1], `"world":3`, `"score":2`, `"iteration":2`)
	}
}

// B-037: what the scheduler resources gives to the last trial is what is charged.
func TestLastTrialGetsTheRest(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 12, any_params: true}}
space: {x: {uniform: [0, 1]}}
resources: {cpu: 1, a: 2}
scheduler: {plugin: resources, request: {cpu: 1, a: 2}, slots: 4, interval: 2}
trials: 3
`)
	o.Resources = "(cpu=4,a=8)"
	most := map[string]bool{}
	m := audit(t, finish(t, o).Dir, func(m *core.Machine, _ core.Event) {
		sum := 0
		for no := range core.TrialNo(m.Trials()) {
			if m.State(no) == core.Running {
				n, err := strconv.Atoi(m.Request(no).Bundles()[0].Get("cpu").String())
				if err != nil {
					t.Fatal(err)
				}
				sum += n
				most[m.Request(no).String()] = true
			}
		}
		if m.Trials() == 0 {
			return // nodes join
		}
		if got, want := fmt.Sprint(m.Usage()), fmt.Sprintf("[a %d/8 cpu %d/4]", 2*sum, sum); got != want {
			t.Errorf("%s is held, want %s", got, want)
		}
	})
	if !most["a 8, cpu 4"] && !most["a 4, cpu 2"] || m.Count(core.Terminated) != 3 {
		t.Errorf("requests were %v, %d trials ended well", most, m.Count(core.Terminated))
	}
}

// B-036: without overcommit nothing is started beyond what is free: wait_for_resources
// lets trials wait for what is not there, and no more.
func TestWaitingStartsNothingBeyond(t *testing.T) {
	o, seen := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [sh, -c, 'echo "{{\"score\": 1}}"']}
space: {x: {uniform: [0, 1]}}
placement: {bundles: [{cpu: 2}, {cpu: 1}], strategy: spread, workers: true}
wait_for_resources: true
trials: 4
`)
	o.Resources = "1x(cpu=3)+1x(cpu=2)"
	ended := finish(t, o)
	m := audit(t, ended.Dir, func(m *core.Machine, _ core.Event) {
		for _, u := range m.Usage() {
			if u.Total.Cmp(u.Used) < 0 {
				t.Errorf("%s is held", u)
			}
		}
	})
	if got := mostRunning(t, ended.Dir); got != 1 || m.Count(core.Terminated) != 4 {
		t.Errorf("%d trials ran at a time, %d ended well", got, m.Count(core.Terminated))
	}
	if strings.Contains(seen.String(), "until there is more") {
		t.Errorf("it says that it waits:\n%s", seen)
	}
}
