package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/simulate"
	"github.com/tunehost/tunehost/host/simulate/curves"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/auto"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const simulatedFile = `version: 1
name: curves
seed: 7
objective: {metric: score, mode: min}
space: {x: {uniform: [0, 1]}, kind: {choice: [a, b]}}
scheduler: %s
trials: %d
`

// someCurves are 300 configurations: the smaller x the better in the end, and in the
// middle b looks better than it ends.
func someCurves(s *space.Space) (*curves.Table, error) {
	var lines strings.Builder
	for i := range 300 {
		x := float64(i*37%300) / 300
		kind := string("ab"[i%2])
		var values []string
		for k := 1; k <= 27; k++ {
			y := x + 1/float64(k)
			if kind == "b" {
				y += 0.1 - 0.3*math.Exp(-float64((k-9)*(k-9))/20)
			}
			values = append(values, fmt.Sprint(y))
		}
		fmt.Fprintf(&lines, `{"params": {"x": %v, "kind": "%s"}, "metrics": {"score": [%s]}, "seconds": %v}`+"\n", x,
			kind, strings.Join(values, ","), 27+x)
	}
	return curves.Read(strings.NewReader(lines.String()), s)
}

func simulateFile(t testing.TB, scheduler string, trials, workers int, sets ...string) simulate.Result {
	t.Helper()
	file := filepath.Join(t.TempDir(), "curves.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, simulatedFile, scheduler, trials), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Run(context.Background(), Options{File: file, Sets: sets,
		Plugins: testPlugins.With(median.Plugin), Output: Output{Stderr: os.Stderr, Verbose: 1}}, someCurves, workers)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkSimulate is how many results a second are decided.
func BenchmarkSimulate(b *testing.B) {
	for _, scheduler := range []string{"fifo", "{plugin: asha, max: 27, grace: 9}", "{plugin: median}"} {
		b.Run(scheduler, func(b *testing.B) {
			results := uint64(0)
			for b.Loop() {
				results += simulateFile(b, scheduler, 5000, 64).Results
			}
			b.ReportMetric(float64(results)/b.Elapsed().Seconds(), "results/s")
		})
	}
}

// The same file, seed and table give the same outcome, and another seed another.
func TestSimulateAgain(t *testing.T) {
	for _, scheduler := range []string{"fifo", "{plugin: asha, max: 27}", "{plugin: asha, max: 27, type: promotion}",
		"{plugin: median}", "{plugin: pbt, interval: 3}"} {
		a, b := simulateFile(t, scheduler, 60, 4), simulateFile(t, scheduler, 60, 4)
		if fmt.Sprint(fates(a.Machine)) != fmt.Sprint(fates(b.Machine)) || a.Seconds != b.Seconds ||
			a.Results != b.Results {
			t.Errorf("%s: two simulations differ", scheduler)
		}
		if a.Outcome != core.Finished || a.States[core.Terminated] != a.Trials || a.Trials != 60 {
			t.Errorf("%s: %+v", scheduler, a)
		}
		if c := simulateFile(t, scheduler, 60, 4,
			"seed=8"); fmt.Sprint(fates(a.Machine)) == fmt.Sprint(fates(c.Machine)) {
			t.Errorf("%s: another seed, the same outcome", scheduler)
		}
	}
}

// fates are how trials ended, as far as decisions made it so.
func fates(m *core.Machine) (list []string) {
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		list = append(list, fmt.Sprintf("%d %s %v %d %s", no, v.Params, v.State, v.Iteration, v.Reason()))
	}
	return list
}

// decisions are fates but for the last iteration: the host's trials run ahead of
// the decision.
func decisions(m *core.Machine) (list []string) {
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		list = append(list, fmt.Sprintf("%d %s %v %s", no, v.Params, v.State, v.Reason()))
	}
	return list
}

// Time is virtual: trials of 27 to 28 s on 4 workers.
func TestSimulatedTime(t *testing.T) {
	s := simulateFile(t, "fifo", 40, 4)
	if s.Results != 40*27 || s.Seconds < 10*27 || s.Seconds > 10*28 || math.Abs(s.Trained-s.Whole) > 1e-6 ||
		s.Trained < 40*27 {
		t.Errorf("%d results in %v s, trained %v s of %v s", s.Results, s.Seconds, s.Trained, s.Whole)
	}
	last := s.Curve[len(s.Curve)-1]
	if float64(last.Value) > s.Best.Value || float64(last.Seconds) > s.Seconds || s.Curve[0].Results != 1 {
		t.Errorf("%+v, best %+v", s.Curve, s.Best)
	}
	if s := simulateFile(t, "fifo", 40, 4, "budget={time: 100s}"); s.Seconds > 101 || s.Trials > 24 {
		t.Errorf("with a budget of 100 s: %v s, %d trials", s.Seconds, s.Trials)
	}
	if early := simulateFile(t, "{plugin: asha, max: 27}", 40, 4); early.Trained > s.Trained/2 ||
		early.States[core.Terminated] != 40 {
		t.Errorf("asha trained %v s, fifo %v s", early.Trained, s.Trained)
	}
}

// A configuration that failed fails again, as often as it is tried.
func TestSimulatedFailure(t *testing.T) {
	file := write(t, "version: 1\nobjective: {metric: score, mode: min}\nspace: {x: {grid: [1, 2]}}\nsearcher: "+
		"grid\nfailures: {retries: 2}\n").File
	load := func(s *space.Space) (*curves.Table, error) {
		return curves.Read(strings.NewReader(`{"params": {"x": 1}, "metrics": {"score": [3, 2]}}
{"params": {"x": 2}, "metrics": {"score": [1, "NaN"]}, "failed": "out of memory"}`), s)
	}
	s, err := simulate.Run(context.Background(), Options{File: file, Plugins: testPlugins}, load, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Machine.View(1); v.State != core.Errored || v.Failures != 3 || v.Reason() != "out of memory" {
		t.Errorf("%+v", v)
	}
	if s.Best.Value != 2 || s.Outcome != core.Finished {
		t.Errorf("%+v", s)
	}
}

// curving reports curves that cross, from which asha stops some.
var curving = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "curving", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			var p struct{ X, Y float64 }
			if err := json.Unmarshal(run.Trial().Params, &p); err != nil {
				return err
			}
			for k := 1.0; k <= 9; k++ {
				r := sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: p.X + p.Y/k}}, Done: k == 9}
				if err := run.Report(r, nil); err != nil {
					return err
				}
			}
			return nil
		}), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
	},
}

const curvingFile = `version: 1
name: %s
seed: 5
objective: {metric: score, mode: min}
trainable: {plugin: curving}
space: {x: {uniform: [0, 1]}, y: {uniform: [0, 2]}}
searcher: random
concurrency: 1
trials: 30
`

// The simulation decides as the host does: an experiment with a scheduler has the
// same fates as the simulation of that scheduler on what was recorded without.
func TestSimulatesTheHost(t *testing.T) {
	for _, scheduler := range []string{"{plugin: asha, max: 9, grace: 1}",
		"{plugin: median, grace: 2, min_trials: 3}"} {
		whole, _ := quick(t, fmt.Sprintf(curvingFile, "whole"), curving, asha.Plugin, median.Plugin)
		if _, err := run(context.Background(), whole); err != nil {
			t.Fatal(err)
		}
		real, _ := quick(t, fmt.Sprintf(curvingFile, "real")+"scheduler: "+scheduler+"\n", curving, asha.Plugin,
			median.Plugin)
		end, err := run(context.Background(), real)
		if err != nil {
			t.Fatal(err)
		}
		e, err := view.Open(end.Dir)
		if err != nil {
			t.Fatal(err)
		}
		simulated, err := simulate.Backtest(context.Background(), filepath.Join(whole.Storage, "whole"),
			Options{Plugins: whole.Plugins, Sets: []string{"scheduler=" + scheduler}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, got := decisions(e.Now().Machine), decisions(simulated.Machine)
		stopped := 0
		for i := range want {
			if want[i] != got[i] {
				t.Errorf("the host: %s\nsimulated: %s", want[i], got[i])
			}
			if !strings.HasSuffix(want[i], "completed") {
				stopped++
			}
		}
		if err := e.Close(); err != nil || stopped < 5 || simulated.Cut > 0 {
			t.Errorf("%d trials were stopped, %d cut: %v", stopped, simulated.Cut, err)
		}
	}
}

// What was stopped then is not known any further.
func TestBacktestCut(t *testing.T) {
	o, _ := quick(t, fmt.Sprintf(curvingFile, "stopped")+"scheduler: {plugin: asha, max: 9, grace: 1}\n", curving,
		asha.Plugin)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Backtest(context.Background(), filepath.Join(o.Storage, "stopped"),
		Options{Plugins: o.Plugins, Sets: []string{"scheduler=fifo"}}, 2)
	if err != nil || s.Cut < 10 || s.Trials != 30 || s.Outcome != core.Finished {
		t.Errorf("%+v, %v", s, err)
	}
}

// A simulation of a record says what it would have saved, and what would have become of the best trial.
func TestBacktestBesideTheRecord(t *testing.T) {
	o, _ := quick(t, fmt.Sprintf(curvingFile, "beside"), curving, auto.Plugin, asha.Plugin)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	for scheduler, kept := range map[string]bool{"fifo": true, "auto": true, "{plugin: asha, max: 9}": true,
		"{plugin: asha, max: 3}": false} {
		s, err := simulate.Backtest(context.Background(), filepath.Join(o.Storage, "beside"),
			Options{Plugins: o.Plugins, Sets: []string{"scheduler=" + scheduler}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var trained uint64
		best, number := math.Inf(1), core.TrialNo(0)
		for no := range core.TrialNo(s.Trials) {
			v := s.Machine.View(no)
			var p struct{ X, Y float64 }
			if err := json.Unmarshal(v.Params, &p); err != nil {
				t.Fatal(err)
			}
			if trained += v.Iteration; p.X+p.Y/9 < best {
				best, number = p.X+p.Y/9, no
			}
		}
		r, b := s.Record, s.Record.Best
		if r.Iterations != 30*9 || r.Trained != trained || (trained < 30*9/2) == (scheduler == "fifo") {
			t.Errorf("%s: %+v, %d iterations simulated", scheduler, r, trained)
		}
		if b.Number != number || b.Value != best || b.Iterations != 9 || b.Kept() != kept ||
			b.Reason != s.Machine.View(number).Reason() {
			t.Errorf("%s: %+v, want trial %d with %v, kept %v", scheduler, b, number, best, kept)
		}
	}
	if s := simulateFile(t, "fifo", 4, 4); s.Record != nil {
		t.Errorf("a simulation of a table: %+v", s.Record)
	}
}

// failing fails at once where x is 1 or 2, and else ends with x.
var failing = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "failing", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			var p struct{ X float64 }
			if err := json.Unmarshal(run.Trial().Params, &p); err != nil || p.X < 3 {
				return errors.Join(err, errors.New("cannot"))
			}
			return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: -p.X}}, Done: true}, nil)
		}), sdk.TrainableTraits{}, nil
	},
}

// Trials of a grid keep their parameters where others have reported nothing, and all have their recorded numbers.
func TestBacktestOfAGridWithFailures(t *testing.T) {
	o, _ := quick(t, "version: 1\nname: failures\nobjective: {metric: score, mode: min}\n"+
		"trainable: {plugin: failing}\nspace: {x: {grid: [1, 2, 3, 4, 5]}}\n"+
		"points: [{x: 4}]\nsearcher: random\nconcurrency: 1\n", failing)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Backtest(context.Background(), filepath.Join(o.Storage, "failures"),
		Options{Plugins: o.Plugins}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b := s.Best; s.Trials != 3 || b.Number != 4 || b.Value != -5 || string(b.Params) != `{"x":5}` ||
		s.Record.Best.Number != 4 || s.Curve[0].Number != 0 || s.Curve[0].Value != -4 {
		t.Errorf("%+v, %+v, %+v of %d", b, s.Record.Best, s.Curve, s.Trials)
	}
}

// evaluating reports its score every second time, and another metric at the end.
var evaluating = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "evaluating", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			var p struct{ X float64 }
			err := json.Unmarshal(run.Trial().Params, &p)
			for k := 0; k < 3 && err == nil; k++ {
				metrics := []sdk.Metric{{Name: "speed", Value: 1}}
				if k == 1 {
					metrics = append(metrics, sdk.Metric{Name: "score", Value: p.X})
				}
				err = run.Report(sdk.Result{Metrics: metrics, Done: k == 2}, nil)
			}
			return err
		}), sdk.TrainableTraits{}, nil
	},
}

// A last result without the objective leaves the value before it as the trial's last one, in the record and in the
// simulation, as `best` has it.
func TestBacktestOfMissingValues(t *testing.T) {
	o, _ := quick(t, "version: 1\nname: missing\nobjective: {metric: score, mode: min}\n"+
		"trainable: {plugin: evaluating}\nspace: {x: {grid: [3, 1, 2]}}\nconcurrency: 1\nstrict_metrics: false\n",
		evaluating)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Backtest(context.Background(), filepath.Join(o.Storage, "missing"),
		Options{Plugins: o.Plugins}, 1)
	if err != nil || s.Best == nil || s.Record.Best == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if b, r := s.Best, s.Record.Best; b.Value != 1 || r.Value != 1 || r.Number != 1 || r.Iterations != 3 || !r.Kept() {
		t.Errorf("%+v, %+v", b, r)
	}
	if got, _ := s.Machine.Summary(1, s.Machine.Metric("score")); got.Count != 1 {
		t.Errorf("the trial has %d values of the objective: what is missing was told as one", got.Count)
	}
}

// fallible reports x twice, and fails then where it is below 3.
var fallible = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "fallible", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			var p struct{ X float64 }
			err := json.Unmarshal(run.Trial().Params, &p)
			for k := 0; k < 2 && err == nil; k++ {
				err = run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: p.X}}}, nil)
			}
			if err == nil && p.X < 3 {
				err = errors.New("cannot")
			}
			return err
		}), sdk.TrainableTraits{}, nil
	},
}

// What was retried is what counts of it: the simulation trains as much as the record has, and both have the same best
// trial, which `best` shows, too.
func TestBacktestOfRetries(t *testing.T) {
	o, _ := quick(t, "version: 1\nname: retried\nobjective: {metric: score, mode: min}\n"+
		"trainable: {plugin: fallible}\nspace: {x: {grid: [4, 1, 2, 5]}}\n"+
		"searcher: random\nconcurrency: 1\nfailures: {retries: 2}\n", fallible)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(o.Storage, "retried")
	s, err := simulate.Backtest(context.Background(), dir, Options{Plugins: o.Plugins}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Record
	if s.Results != 8 || r.Iterations != 8 || r.Trained != 8 || s.States[core.Errored] != 2 ||
		math.Abs(s.Trained-s.Whole) > 1e-6 || math.Abs(s.Trained-r.Seconds) > 1e-6 {
		t.Errorf("%+v beside %+v", s, r)
	}
	if s.Best.Number != 1 || r.Best.Number != 1 || !r.Best.Kept() {
		t.Errorf("the best is %+v, that of the record %+v", s.Best, r.Best)
	}
	_, err = simulate.Backtest(context.Background(), dir, Options{Plugins: o.Plugins,
		Sets: []string{"failures.retries=1"}}, 1)
	if err == nil {
		t.Error("retries of a record can be set")
	}
}

// The number of workers counts, whatever concurrency the file has.
func TestSimulatedWorkers(t *testing.T) {
	want := simulateFile(t, "fifo", 8, 4).Seconds
	if got := simulateFile(t, "fifo", 8, 4, "concurrency=1").Seconds; got != want {
		t.Errorf("%v s, want %v", got, want)
	}
	if one := simulateFile(t, "fifo", 8, 1).Seconds; one < 2*want {
		t.Errorf("one worker takes %v s, four %v", one, want)
	}
}

// noisy reports a curve of its own for each trial, whatever its parameters are: the trial's seed decides.
var noisy = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "noisy", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			noise := float64(run.Trial().Seed%1000) / 1000
			for k := 1.0; k <= 9; k++ {
				r := sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: noise + 1/k}}, Done: k == 9}
				if err := run.Report(r, nil); err != nil {
					return err
				}
			}
			return nil
		}), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
	},
}

// Trials with the same parameters report what each of them reported.
func TestBacktestOfRepeats(t *testing.T) {
	file := strings.Replace(fmt.Sprintf(curvingFile, "repeats"), "curving}", "noisy}", 1) + "repeat: 3\n"
	o, _ := quick(t, file, noisy, asha.Plugin)
	if _, err := run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(o.Storage, "repeats")
	s, err := simulate.Backtest(context.Background(), dir, Options{Plugins: o.Plugins}, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	recorded := e.Now().Machine
	for no := range core.TrialNo(s.Trials) {
		want, _ := recorded.Summary(no, recorded.Metric("score"))
		if got, ok := s.Machine.Summary(no, s.Machine.Metric("score")); !ok || got.Last != want.Last {
			t.Errorf("trial %d ends with %v, and %v was recorded", no, got.Last, want.Last)
		}
	}
	if b := s.Record.Best; b.Number != s.Best.Number || !b.Kept() {
		t.Errorf("the best recorded trial is %+v, the best simulated %d", b, s.Best.Number)
	}
}
