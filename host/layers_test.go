package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/schedulers/resources"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// stopper ends a trial at the iteration `at`, or with `all` the experiment.
var stopper = sdk.SchedulerPlugin{
	Info: sdk.Info{Name: "stopper", Version: "1", Options: []byte(`{"type": "object"}`)},
	Open: func(_ sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		all := strings.Contains(string(options), "all")
		return decider(func(e *sdk.Event, out *sdk.Decisions) {
			d := sdk.Decision{Event: e.Number}
			switch {
			case e.Iteration < 3:
				d.Until = 3
			case all:
				out.Commands = append(out.Commands, sdk.Command{Kind: sdk.StopAll, Reason: "all have seen enough"})
			default:
				d.Verdict, d.Reason = sdk.Stop, "it has seen enough"
			}
			out.Decisions = append(out.Decisions, d)
		}), sdk.Traits{}, nil
	},
}

// decider is a scheduler that decides on results one by one.
type decider func(*sdk.Event, *sdk.Decisions)

func (f decider) Decide(_ context.Context, events []sdk.Event) (out sdk.Decisions, err error) {
	for i := range events {
		if events[i].Kind == sdk.ResultReported {
			f(&events[i], &out)
		}
	}
	return out, nil
}

// B-018: a plugin under stop ends trials, or all of them, whatever the scheduler is.
func TestStopPlugin(t *testing.T) {
	rising := func(x float64, i int) float64 { return x * float64(i) }
	for _, scheduler := range []string{"fifo", "{plugin: asha, max: 20}"} {
		o, _ := quick(t, threeCurves+"scheduler: "+scheduler+"\nstop: {plugin: stopper}\n", curve(rising, undisturbed),
			stopper, asha.Plugin)
		m := audit(t, finish(t, o).Dir, nil)
		for no := range core.TrialNo(3) {
			if v := m.View(no); v.State != core.Terminated || v.Iteration > 3 || v.Iteration == 3 &&
				v.Reason() != "it has seen enough" {
				t.Errorf("%s: trial %d %v at %d: %s", scheduler, no, v.State, v.Iteration, v.Reason())
			}
		}
		if v := m.View(0); v.Iteration != 3 {
			t.Errorf("%s: trial 0 ended at %d, want 3", scheduler, v.Iteration)
		}
	}
	o, seen := quick(t, threeCurves+"stop: {plugin: {plugin: stopper, all: true}}\n", curve(rising, undisturbed),
		stopper)
	m := audit(t, finish(t, o).Dir, nil)
	if outcome, why := m.Outcome(); outcome != core.Finished || why.String() != "all have seen enough" ||
		m.View(0).Iteration != 3 {
		t.Errorf("%v: %s, trial 0 at %d\n%s", outcome, why, m.View(0).Iteration, seen)
	}
}

// A bundled scheduler that only stops is a stopper, too; options are checked in their place.
func TestStopPluginIsAScheduler(t *testing.T) {
	flat := func(float64, int) float64 { return 1 }
	o, _ := quick(t, threeCurves+"stop: {plugin: {plugin: patience, patience: 2}}\n", curve(flat, undisturbed),
		patience.Plugin)
	m := audit(t, finish(t, o).Dir, nil)
	for no := range core.TrialNo(3) {
		if v := m.View(no); v.Iteration >= 20 {
			t.Errorf("trial %d continued to %d", no, v.Iteration)
		}
	}
	o, _ = quick(t, threeCurves+"stop: {plugin: {plugin: patience, patiens: 2}}\n", curve(flat, undisturbed),
		patience.Plugin)
	contains(t, refused(t, o), "yaml:7:", "patiens", `did you mean "patience"?`)
	o, _ = quick(t, threeCurves+"stop: {plugin: nosuch}\n", curve(flat, undisturbed), patience.Plugin)
	contains(t, refused(t, o), "yaml:7:", "nosuch")
}

// climber returns a trainable that reports x times its iteration 12 times, and continues from its
// checkpoints. The trial with the highest x is the first to report, so that the others are worse
// than one that is there.
func climber(highest float64) sdk.TrainablePlugin {
	there := make(chan struct{})
	reported := sync.OnceFunc(func() { close(there) })
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "climber", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(ctx context.Context, run sdk.Run) error {
				var p struct{ X float64 }
				if err := json.Unmarshal(run.Trial().Params, &p); err != nil {
					return err
				}
				if p.X < highest {
					select {
					case <-there:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				save := func(dir string) error { return os.WriteFile(filepath.Join(dir, "state"), nil, 0o600) }
				for i := run.Trial().Iteration + 1; i <= 12; i++ {
					score := []sdk.Metric{{Name: "score", Value: p.X * float64(i)}}
					if err := run.Report(sdk.Result{Metrics: score, Done: i == 12}, save); err != nil {
						return err
					}
					reported()
				}
				return nil
			}), sdk.TrainableTraits{Saves: true}, nil
		},
	}
}

// The scheduler resources over asha: asha stops the worst, and the others are paused and go
// on with the rest.
func TestResourcesOverAnother(t *testing.T) {
	o, seen := quick(t, strings.NewReplacer("curve", "climber", "concurrency: 1", "seed: 3").Replace(threeCurves)+
		"scheduler: {plugin: resources, slots: 4, interval: 2, base: {plugin: asha, max: 12}}\n", climber(3),
		asha.Plugin, resources.Plugin)
	o.Resources = "cpu=4"
	larger := 0
	m := audit(t, finish(t, o).Dir, func(m *core.Machine, e core.Event) {
		if started, ok := e.(*core.AttemptStarted); ok && m.Request(started.Trial).String() != "cpu 1" {
			larger++
		}
	})
	ends := map[uint64]int{}
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		ends[v.Iteration]++
		if v.State != core.Terminated {
			t.Errorf("trial %d: %v: %s", no, v.State, v.Reason())
		}
	}
	if ends[12] == 0 || ends[12] == 3 || larger == 0 || m.Usage()[0].Used != (resource.Amount{}) {
		t.Errorf("trials ended at %v, %d starts had more than they asked for; %s\n%s", ends, larger, m.Usage(), seen)
	}
}

// B-102: a replay without trust leaves all schedulers uncompared where one of them is not
// bundled, and names that one.
func TestReplayOfAForeignLayer(t *testing.T) {
	text := threeCurves + "scheduler: {plugin: asha, max: 20}\nstop: {plugin: stopper}\n"
	rising := curve(func(x float64, i int) float64 { return x * float64(i) }, undisturbed)
	o, _ := quick(t, text, rising, stopper, asha.Plugin)
	dir := finish(t, o).Dir
	without, _ := quick(t, text, rising, asha.Plugin)
	replayed, err := replay.Run(t.Context(), dir, replay.Options{Plugins: without.Plugins})
	if err != nil || len(replayed.Uncompared) != 1 || replayed.Uncompared[0] != `scheduler "stopper"` {
		t.Errorf("%v is not compared: %v", replayed.Uncompared, err)
	}
}
