package host

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A grid of which the constraints leave nothing is refused before anything starts, the same whether the searcher runs
// in a process of its own or not.
func TestConstraintsThatNothingSatisfies(t *testing.T) {
	const text = "version: 1\nobjective: {metric: score, mode: max}\n" +
		"trainable: {plugin: chaos, options: {iterations: 1}}\nspace: {x: {uniform: [0, 1]}, g: {grid: [1, " +
		"2]}}\nconstraints: x > 2.0\nsearcher: random\n"
	inProcess, _ := quick(t, text)
	process, _ := quiet(t, text)
	for _, o := range []Options{inProcess, process} {
		_, err := run(t.Context(), o)
		if err == nil || !strings.HasSuffix(err.Error(), "test.yaml:5:14: no combination of the grid satisfies the "+
			"constraints: loosen them, or give the grid other values") {
			t.Error(err)
		}
	}
}

// What cannot be drawn is refused before anything starts; a searcher that is not drawing may know
// points that satisfy the constraints.
func TestTooTight(t *testing.T) {
	mine := searcherOf("mine", func(sdk.Problem) asked {
		return func(list []sdk.Request) (s sdk.Suggestions, err error) {
			for range list {
				s.Points = append(s.Points, space.Point{1})
			}
			return s, nil
		}
	})
	const text = "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: wobbly}\n" +
		"space: {x: {uniform: [0, 1]}}\nconstraints: x >= 1.0\nsearcher: random\n"
	o, _ := quick(t, text, mine, wobbly(0))
	contains(t, refused(t, o), "test.yaml:5:14: no point satisfies the constraints in 10000 draws")
	o.Sets = []string{"points=[{x: 1.0}]"}
	finish(t, o)
	other, _ := quick(t, strings.Replace(text, "searcher: random", "searcher: mine", 1), mine, wobbly(0))
	finish(t, other)
}

// A constraint over a random number rules out some of its draws, and no trial: others are drawn. The record is replayed
// to the same trials.
func TestRandomConstraint(t *testing.T) {
	for _, space := range []string{"x: {uniform: [0, 1]}", "x: {grid: [1, 2]}"} {
		o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: wobbly}\n"+
			"space: {"+space+", b: {sample: 'uniform(0, 1)'}}\nconstraints: b > 0.5\ntrials: 12\nsearcher: random\n",
			wobbly(0))
		ended := finish(t, o)
		if err := replay.Check(t.Context(), ended.Dir, o.Plugins); err != nil {
			t.Error(err)
		}
		m := opened(t, ended.Dir).Now().Machine
		for i := range m.Trials() {
			var p struct{ B float64 }
			if err := json.Unmarshal(m.Params(core.TrialNo(i)), &p); err != nil || p.B <= 0.5 {
				t.Errorf("%s: a trial has %s, %v", space, m.Params(core.TrialNo(i)), err)
			}
		}
	}
}

// nanTrainable reports one result, which is NaN.
var nanTrainable = sdk.TrainablePlugin{
	Info: sdk.Info{Name: "nan", Version: "1", Options: noOptions},
	Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
			return run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: math.NaN()}}}, nil)
		}), sdk.TrainableTraits{}, nil
	},
}

// B-015: results that are all NaN are worth nothing, and the caller is told.
func TestNothingButNaN(t *testing.T) {
	o, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: nan}\n"+
		"space: {x: {uniform: [0, 1]}}\ntrials: 2\n", nanTrainable)
	ended := finish(t, o)
	if ended.NonFinite != "all 2 results of score were NaN" {
		t.Errorf("%+v", ended)
	}
	e := opened(t, ended.Dir)
	if text := view.NonFinite(e.Now().Machine); text != ended.NonFinite {
		t.Errorf("recorded: %q", text)
	}
	fine, _ := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: wobbly}\n"+
		"space: {x: {uniform: [0, 1]}}\n", wobbly(0))
	if ended := finish(t, fine); ended.NonFinite != "" {
		t.Errorf("%+v", ended)
	}
}
