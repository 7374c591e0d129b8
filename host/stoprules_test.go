package host

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// curve is a trainable that reports score(x, iteration) and the iteration as cost 20 times,
// where x is its parameter; each is told before the report.
func curve(score func(x float64, iteration int) float64,
	each func(x float64, iteration int) error) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "curve", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				var p struct{ X float64 }
				if err := json.Unmarshal(run.Trial().Params, &p); err != nil {
					return err
				}
				for i := 1; i <= 20; i++ {
					if err := each(p.X, i); err != nil {
						return err
					}
					metrics := []sdk.Metric{{Name: "cost", Value: float64(i)}, {Name: "score", Value: score(p.X, i)}}
					if err := run.Report(sdk.Result{Metrics: metrics, Done: i == 20}, nil); err != nil {
						return err
					}
				}
				return nil
			}), sdk.TrainableTraits{}, nil
		},
	}
}

func undisturbed(float64, int) error { return nil }

const threeCurves = "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: curve}\nspace: " +
	"{x: {grid: " +
	"[1, 2, 3]}}\nsearcher: grid\nconcurrency: 1\n"

// B-018: each rule stops a trial at its iteration, with a reason that names it; of several
// the first that is met.
func TestStopRulesOfTrials(t *testing.T) {
	rising := func(x float64, i int) float64 { return x * float64(i) }
	for _, c := range []struct {
		rules, reason string
		at            [3]uint64 // iterations at which the trials end
	}{
		{"stop: {score: 6}", "reached score 6", [3]uint64{6, 3, 2}},
		{"stop: {cost: 4}", "reached cost 4", [3]uint64{4, 4, 4}},
		{"stop: {score: {above: 6}}", "score is above 6", [3]uint64{7, 4, 3}},
		{"stop: {score: {below: 2}}", "", [3]uint64{1, 20, 20}},
		{"stop: {iteration: 5}", "reached iteration 5", [3]uint64{5, 5, 5}},
		{"stop: {training_iteration: 10}", "reached iteration 10", [3]uint64{10, 10, 10}},
		{"stop: {when: score > 7 && iteration >= 4}", "stop.when holds: score > 7 && iteration >= 4",
			[3]uint64{8, 4, 4}},
		{"stop: {when: x == 2.0 && cost >= 3.0}", "", [3]uint64{20, 3, 20}},
		{"stop: {when: nothing > 3}", "", [3]uint64{20, 20, 20}},
		{"stop: {iteration: 4, score: 9, cost: {above: 7}}", "", [3]uint64{4, 4, 3}},
	} {
		o, _ := quick(t, threeCurves+c.rules+"\n", curve(rising, undisturbed))
		m := audit(t, finish(t, o).Dir, nil)
		for no := range core.TrialNo(3) {
			v := m.View(no)
			if v.State != core.Terminated || v.Iteration != c.at[no] || c.reason != "" && v.Reason() != c.reason {
				t.Errorf("%s: trial %d %v at %d: %s; want %d: %s", c.rules, no, v.State, v.Iteration, v.Reason(),
					c.at[no], c.reason)
			}
		}
	}
}

// B-018: where less is better, a value is reached from above.
func TestStopRuleInTheObjectivesDirection(t *testing.T) {
	falling := func(x float64, i int) float64 { return -x * float64(i) }
	o, _ := quick(t, strings.Replace(threeCurves, "mode: max", "mode: min", 1)+"stop: {score: -6}\n",
		curve(falling, undisturbed))
	m := audit(t, finish(t, o).Dir, nil)
	for no, want := range []uint64{6, 3, 2} {
		if got := m.View(core.TrialNo(no)).Iteration; got != want {
			t.Errorf("trial %d ends at %d, want %d", no, got, want)
		}
	}
}

// saturates rises to x and stays there.
func saturates(x float64, i int) float64 { return min(2*x, float64(i)) }

// B-018: a trial whose metric no longer changes, by the host's rule and by a plugin. It
// rises to 2, 4 and 6; NaN is no value.
func TestPlateauOfTrials(t *testing.T) {
	broken := func(x float64, i int) float64 {
		if i%2 == 0 {
			return math.NaN()
		}
		return saturates(x, i)
	}
	for _, c := range []struct {
		rules, reason string
		score         func(float64, int) float64
		at            [3]uint64
	}{
		{"stop: {plateau: {last: 3, std: 0.01}}", "plateau of score", saturates, [3]uint64{4, 6, 8}},
		{"stop: {plateau: {last: 3, std: 0.01, grace: 7}}", "plateau of score", saturates, [3]uint64{7, 7, 8}},
		{"stop: {plateau: {last: 3, std: 0.01, patience: 2}}", "plateau of score", saturates, [3]uint64{6, 8, 10}},
		{"stop: {plateau: {last: 2, std: 0.01}}", "plateau of score", broken, [3]uint64{5, 7, 9}},
		{"stop: {plateau: {metric: cost, last: 2, std: 0.6}}", "plateau of cost", saturates, [3]uint64{2, 2, 2}},
	} {
		o, _ := quick(t, threeCurves+c.rules+"\n", curve(c.score, undisturbed), patience.Plugin)
		m := audit(t, finish(t, o).Dir, nil)
		for no := range core.TrialNo(3) {
			if v := m.View(no); v.Iteration != c.at[no] || c.reason != "" && v.Reason() != c.reason {
				t.Errorf("%s: trial %d at %d: %s; want %d: %s", c.rules, no, v.Iteration, v.Reason(), c.at[no],
					c.reason)
			}
		}
	}
}

// B-018: a plugin stops trials too, which may be a result ahead of it.
func TestStopByPlugin(t *testing.T) {
	for rules, at := range map[string][3]uint64{
		"scheduler: {plugin: patience, patience: 2, grace: 1}": {4, 6, 8},
		"scheduler: {plugin: patience, limit: 2.5, grace: 5}":  {5, 14, 16}, // the first is beyond the limit
	} {
		o, _ := quick(t, threeCurves+rules+"\n", curve(saturates, undisturbed), patience.Plugin)
		m := audit(t, finish(t, o).Dir, nil)
		for no := range core.TrialNo(3) {
			if v := m.View(no); v.Iteration < at[no] || v.Iteration > at[no]+1 || v.Reason() == "completed" {
				t.Errorf("%s: trial %d at %d: %s; want %d", rules, no, v.Iteration, v.Reason(), at[no])
			}
		}
	}
}

// B-018: a trial's own time, by the host's clock.
func TestStopRuleOfTime(t *testing.T) {
	clock := &leaps{}
	o, _ := quick(t, threeCurves+"stop: {time: 10s}\n",
		curve(saturates, func(float64, int) error { clock.leap(6 * time.Second); return nil }))
	o.Clock = clock
	m := audit(t, finish(t, o).Dir, nil)
	for no := range core.TrialNo(3) {
		if v := m.View(no); v.Reason() != "reached its time limit" || v.Iteration > 3 {
			t.Errorf("trial %d ends at %d: %s", no, v.Iteration, v.Reason())
		}
	}
}

// B-018: rules that end the experiment.
func TestStopRulesOfExperiments(t *testing.T) {
	fails := func(x float64, _ int) error {
		if x < 3 {
			return errors.New("no luck")
		}
		return nil
	}
	for _, c := range []struct {
		rules, reason string
		each          func(float64, int) error
		trials        int
	}{
		{"budget: {trials_failed: 2}", "the budget of failed trials is used up", fails, 2},
		{"budget: {when: results >= 25}", "budget.when holds: results >= 25", undisturbed, 2},
		{"budget: {when: best >= 4.0}", "budget.when holds: best >= 4.0", undisturbed, 2},
		{"budget: {when: trials >= 1 && best > 100.0}", "", undisturbed, 3},
		// Trials that end or fail are tested before the next one starts.
		{"budget: {when: trials_failed >= 2}", "budget.when holds: trials_failed >= 2", fails, 2},
		{"budget: {when: trials >= 2}", "budget.when holds: trials >= 2", undisturbed, 2},
		// The best values are 2, 4 and 6; one trial that stays at its own is no plateau.
		{"budget: {plateau: {last: 2, std: 1.5}}", "plateau of the experiment", undisturbed, 2},
		{"budget: {plateau: {last: 2, std: 0.1}}", "plateau of the experiment", undisturbed, 2},
		{"budget: {plateau: {last: 3, std: 0.1}}", "", undisturbed, 3},
		{"budget: {plateau: {metric: cost, mode: min, last: 3, std: 0}}", "plateau of the experiment", undisturbed, 3},
	} {
		o, _ := quick(t, threeCurves+c.rules+"\n", curve(saturates, c.each))
		ended := finish(t, o)
		m := audit(t, ended.Dir, nil)
		begun := 0
		for no := range core.TrialNo(m.Trials()) {
			begun += int(min(m.View(no).Attempt, 1))
		}
		if ended.Outcome != core.Finished || ended.Reason != c.reason || begun != c.trials {
			t.Errorf("%s: %v (%s) after %d trials; want %d: %s", c.rules, ended.Outcome, ended.Reason, begun, c.trials,
				c.reason)
		}
	}
}

// B-018: an expression over the time holds without a result, also while a trial runs.
func TestBudgetOverTheTime(t *testing.T) {
	silent := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "silent", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(ctx context.Context, _ sdk.Run) error {
				<-ctx.Done()
				return ctx.Err()
			}), sdk.TrainableTraits{}, nil
		},
	}
	o, _ := quick(t, `{version: 1, seed: 1, objective: {metric: score, mode: max}, trainable: {plugin: silent},
stop_grace: 1s, budget: {when: time > 2.0}}`, silent)
	o.Clock = clocktest.New(20)
	ended := finish(t, o)
	if ended.Outcome != core.Finished || ended.Reason != "budget.when holds: time > 2.0" {
		t.Errorf("ended %+v", ended)
	}
}

// B-018: what rules have counted survives the host: of thirty results twelve are recorded
// by the first one.
func TestStopRulesAcrossHosts(t *testing.T) {
	endless := strings.Replace(threeCurves, "space: {x: {grid: [1, 2, 3]}}\nsearcher: grid\n",
		"space: {x: {uniform: [1, 3]}}\ntrials: -1\n", 1)
	o, _ := quick(t, endless+"budget: {when: results >= 12}\n", curve(saturates, undisturbed))
	if ended := finish(t, o); ended.Reason != "budget.when holds: results >= 12" {
		t.Fatalf("the first host ended %+v", ended)
	}
	o.Sets = []string{"budget={when: results >= 30}"}
	ended := finish(t, o)
	results, at, had := 0, 0, map[core.TrialNo]uint32{}
	audit(t, ended.Dir, func(m *core.Machine, e core.Event) {
		if x, ok := e.(*core.ResultReported); ok && m.View(x.Trial).Results > had[x.Trial] {
			had[x.Trial] = m.View(x.Trial).Results
			if results++; x.StopAll != nil && strings.Contains(x.StopAll.Text, "30") && at == 0 {
				at = results
			}
		}
	})
	if at != 30 {
		t.Errorf("it ends with result %d of %d: %s", at, results, ended.Reason)
	}
}

// B-016, B-018: rules know the host's own fields of results, before and after a restore
// from the checkpoint of iteration 4.
func TestStopRulesOverTheHostsFields(t *testing.T) {
	for rule, want := range map[string]struct {
		at     uint64
		reason string
	}{
		"timesteps_total: 30":                                          {3, "reached timesteps_total 30"},
		"timesteps_total: {above: 30}":                                 {4, "timesteps_total is above 30"},
		"timesteps_total: 60":                                          {6, "reached timesteps_total 60"},
		"iterations_since_restore: 2":                                  {2, "reached iterations_since_restore 2"},
		"training_iteration: 3":                                        {3, "reached iteration 3"},
		"time_total_s: 1000000":                                        {6, ""},
		"time_since_restore: 1000000":                                  {6, ""},
		"time_since_restore: {above: -1}":                              {1, "time_since_restore is above -1"},
		"when: timesteps_total >= 20":                                  {2, "stop.when holds: timesteps_total >= 20"},
		"when: iterations_since_restore == 1 && iteration == 5":        {5, "stop.when holds"},
		"when: timesteps_since_restore == 10 && timesteps_total == 50": {5, "stop.when holds"},
		"when: training_iteration == 4":                                {4, "stop.when holds"},
		"when: time_total_s >= time_since_restore && iteration == 2":   {2, "stop.when holds"},
		"when: time_since_restore < 0.0 || time_total_s < 0.0":         {6, ""},
	} {
		o, seen := quick(t, `version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 6, fail_at: 6, fail_times: 1, metrics: {timesteps_this_iter: 10}}}
checkpoint: {every: 2}
failures: {retries: 1}
stop: {`+rule+"}\n")
		v := audit(t, finish(t, o).Dir, nil).View(0)
		if v.State != core.Terminated || v.Iteration != want.at || !strings.HasPrefix(v.Reason(), want.reason) {
			t.Errorf("%s: %v at %d: %s; want %d: %s", rule, v.State, v.Iteration, v.Reason(), want.at, want.reason)
		}
		if text := seen.String(); strings.Contains(text, "no effect") || strings.Contains(text, "taken as a metric") {
			t.Errorf("%s: %s", rule, text)
		}
	}
}
