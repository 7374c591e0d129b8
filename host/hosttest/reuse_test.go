package hosttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// moody is a trainable that reports its process, and whose processes can be used
// again unless the option reset says how that goes wrong.
var moody = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "moody", Version: "1.0.0",
		Options: []byte(`{"type": "object", "properties": {"reset": {"type": "string"}, "requests": {"type": ` +
			`"boolean"}}}`)},
	Open: func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		m := &mood{}
		err := json.Unmarshal(options, m)
		traits := sdk.TrainableTraits{Reusable: m.Mood != "never"}
		if m.Requests {
			return asking{m}, traits, err
		}
		return m, traits, err
	},
}

type mood struct {
	Mood     string `json:"reset"`
	Requests bool   `json:"requests"`
	used     bool
}

// asking asks for two CPUs where n is odd.
type asking struct{ *mood }

func (asking) Request(params []byte) ([]byte, error) {
	var p struct{ N int }
	err := json.Unmarshal(params, &p)
	return fmt.Appendf(nil, `{"cpu": %d}`, 1+p.N%2), err
}

func (m *mood) Train(_ context.Context, run sdk.Run) error {
	if m.used && m.Mood == "late" {
		return &sdk.StartError{Err: errors.New("it is not itself")}
	}
	m.used = true
	return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: float64(os.Getpid())}}, Done: true}, nil)
}

func (m *mood) Reset(context.Context) error {
	switch m.Mood {
	case "fails":
		return errors.New("something is left of the last trial")
	case "panics":
		panic("something is left of the last trial")
	case "dies":
		os.Exit(3)
	case "hangs":
		time.Sleep(time.Hour)
	}
	return nil
}

// processes are those of the trials, in order.
func (x *experiment) processes(t *testing.T) (list []string) {
	t.Helper()
	for _, dir := range x.trials(t) {
		lines := hosttest.Lines(t, filepath.Join(dir, "result.jsonl"))
		if len(lines) != 1 {
			t.Fatalf("%s has %d results", dir, len(lines))
		}
		list = append(list, fmt.Sprint(lines[0]["score"]))
	}
	return list
}

// shares counts the trials that ran in the process of the one before them.
func shares(list []string) (n int) {
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] {
			n++
		}
	}
	return n
}

const moodyFile = `
version: 1
objective: {metric: score, mode: max}
space: {n: {grid: [0, 1, 2, 3, 4, 5]}}
searcher: grid
concurrency: 1
`

// B-110: one process serves trial after trial where it can be reset; where that
// fails, dies or takes too long, each trial gets a fresh one and none fails.
func TestProcessesAreReused(t *testing.T) {
	t.Parallel()
	for mood, want := range map[string]int{"works": 5, "fails": 0, "panics": 0, "dies": 0, "hangs": 0, "late": 0,
		"never": 0} {
		t.Run(mood, func(t *testing.T) {
			t.Parallel()
			x := write(t, moodyFile+"trainable: {plugin: moody, options: {reset: "+mood+"}}\n", nil)
			trials := 6
			if mood == "hangs" {
				x.edit(t, "[0, 1, 2, 3, 4, 5]", "[0, 1]")
				x.CallTimeout, trials = 8*time.Second, 2
			}
			x.run(t, 0)
			hosttest.CheckFinished(t, x.dir, trials)
			if got := shares(x.processes(t)); got != want {
				t.Errorf("%d trials shared the process of the one before, want %d", got, want)
			}
		})
	}
}

// B-110, B-111: not for another request, not where the file says no, and with GPUs
// only where it says yes; with them only for the same ones.
func TestProcessesAreNotReused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more, resources string
		want            int
	}{
		"not wanted":    {"trainable: {plugin: moody}\nreuse: false\n", "", 0},
		"other request": {"trainable: {plugin: moody, options: {requests: true}}\n", "(cpu=2)", 0},
		"gpu":           {"trainable: {plugin: moody}\nresources: {gpu: 1}\n", "(cpu=2,gpu=1)", 0},
		"gpu, wanted":   {"trainable: {plugin: moody}\nresources: {gpu: 1}\nreuse: true\n", "(cpu=2,gpu=1)", 5},
		"two gpus": {"trainable: {plugin: moody}\nresources: {gpu: 1}\nreuse: true\nconcurrency: 2\n",
			"(cpu=2,gpu=2)", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := moodyFile
			if c.want < 0 {
				file = file[:len(file)-len("concurrency: 1\n")]
			}
			x := write(t, file+c.more, nil)
			x.Resources = c.resources
			x.run(t, 0)
			hosttest.CheckFinished(t, x.dir, 6)
			used := x.processes(t)
			if got := shares(used); c.want >= 0 && got != c.want {
				t.Errorf("%d trials shared the process of the one before, want %d", got, c.want)
			}
			if names := unique(used); c.want < 0 && (names < 2 || names > 3) {
				t.Errorf("%d processes, want one for each GPU, and perhaps the first", names)
			}
		})
	}
}

func unique(list []string) int {
	seen := map[string]bool{}
	for _, x := range list {
		seen[x] = true
	}
	return len(seen)
}

// grower is fickle, and has trials ask for more when they continue.
var grower = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "grower", Version: "1.0.0", Options: []byte(`{"type": "object"}`)},
	Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) { return growing{}, sdk.Traits{}, nil },
}

type growing struct{ fickleness }

func (g growing) Decide(ctx context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	out, err = g.fickleness.Decide(ctx, events)
	var more []sdk.Command
	for _, c := range out.Commands {
		more = append(more, sdk.Command{Kind: sdk.Resize, Trial: c.Trial, Resources: []byte(`{"cpu": 2}`)})
	}
	out.Commands = append(more, out.Commands...)
	return out, err
}

// B-111: a trial whose request the scheduler has changed does not continue in a process
// that was started for the old one.
func TestChangedRequestNeedsAFreshProcess(t *testing.T) {
	t.Parallel()
	for scheduler, same := range map[string]bool{"fickle": true, "grower": false} {
		x := write(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 3}}
space: {quality: 0.5}
checkpoint: {every: 1}
scheduler: `+scheduler+"\n", nil)
		x.Resources = "(cpu=2)"
		x.run(t, 0)
		lines := hosttest.Lines(t, filepath.Join(x.trials(t)[0], "result.jsonl"))
		if len(lines) != 3 || (lines[0]["pid"] == lines[2]["pid"]) != same {
			t.Errorf("%s: results %v, want one process: %t", scheduler, lines, same)
		}
	}
}
