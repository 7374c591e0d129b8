package host

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// one is an experiment of one trial of the trainable "reports".
const one = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: reports}
space: {x: {uniform: [0, 1]}}
`

// B-013: a warning, or an error where the metric is required.
func TestEndsWithoutAResult(t *testing.T) {
	for strict, want := range map[string]core.State{"true": core.Errored, "false": core.Terminated} {
		o, seen := quick(t, search("space: {iterations: 0}\nstrict_metrics: "+strict+"\n"))
		ended := finish(t, o)
		m := audit(t, ended.Dir, nil)
		if m.State(0) != want {
			t.Errorf("strict_metrics %s: the trial is %v, want %v", strict, m.State(0), want)
		}
		contains(t, seen.String(), "it ended without reporting score")
	}
}

// B-014: the metric, who needs it, and what was reported; without strict_metrics
// a warning, once a trial.
func TestMissingMetric(t *testing.T) {
	missing := search("space: {score_metric: other, iterations: 3}\n")
	o, _ := quick(t, missing)
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	if m.State(0) != core.Errored || ended.Errored != 1 {
		t.Errorf("the trial is %v", m.State(0))
	}
	contains(t, m.View(0).Reason(), `lacks the metric "score"`, "objective", "other", "loss")

	o, seen := quick(t, missing+"strict_metrics: false\n")
	m = audit(t, finish(t, o).Dir, nil)
	if m.State(0) != core.Terminated || m.View(0).Results != 3 {
		t.Errorf("the trial is %v after %d results", m.State(0), m.View(0).Results)
	}
	if got := strings.Count(seen.String(), `lacks the metric "score"`); got != 1 {
		t.Errorf("warned %d times, want once:\n%s", got, seen)
	}
}

// B-014: by name, who needs it.
func TestMissingMetricOfASearcher(t *testing.T) {
	needy := learner
	needy.Name = "needy"
	needy.Open = func(p sdk.Problem, o []byte) (sdk.Searcher, sdk.Traits, error) {
		s, traits, err := learner.Open(p, o)
		traits.Requires = []string{"seconds"}
		return s, traits, err
	}
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: needy\n"), needy)
	contains(t, audit(t, finish(t, o).Dir, nil).View(0).Reason(), `lacks the metric "seconds"`, "searcher needy")
}

// B-015: kept as reported, told to plugins as worst, and nobody falls over.
func TestNaNAndInfinities(t *testing.T) {
	nan := math.NaN()
	var told []float64
	listener := sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "listener", Version: "1", Options: noOptions},
		Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return hearing(func(e sdk.Event) {
				if e.Kind == sdk.ResultReported {
					told = append(told, e.Losses[0])
				}
			}), sdk.Traits{}, nil
		},
	}
	o, _ := quick(t, one+"scheduler: listener\n", reports(scores(0.5, nan, math.Inf(1), math.Inf(-1), 0.75)...),
		listener)
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	s, ok := m.Summary(0, m.Metric("score"))
	if !ok || s.Count != 5 || s.Finite != 3-1 || s.Last != 0.75 {
		t.Errorf("summary %+v, want 5 results, 2 of them finite", s)
	}
	inf := math.Inf(1)
	want := []float64{-0.5, inf, inf, inf, -0.75}
	for i := range want {
		if i >= len(told) || told[i] != want[i] {
			t.Fatalf("the scheduler was told %v, want %v", told, want)
		}
	}
	lines := resultLines(t, ended.Dir, "00000")
	for i, want := range []any{0.5, "NaN", "Infinity", "-Infinity", 0.75} {
		if lines[i]["score"] != want {
			t.Errorf("result.jsonl has %v in line %d, want %v", lines[i]["score"], i+1, want)
		}
	}
}

// hearing is a scheduler that lets everything continue.
type hearing func(sdk.Event)

func (h hearing) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	for _, e := range events {
		h(e)
	}
	return sdk.Decisions{}, nil
}

func resultLines(t *testing.T, dir, trial string) (lines []map[string]any) {
	t.Helper()
	in := bufio.NewScanner(strings.NewReader(trialFile(t, dir, trial, "result.jsonl")))
	for in.Scan() {
		var line map[string]any
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			t.Fatalf("%v in %s", err, in.Text())
		}
		lines = append(lines, line)
	}
	return lines
}

// B-016, B-055, B-061: the host's own fields, before and after a restore from
// the checkpoint of iteration 4, with totals of counters.
func TestFieldsOfResults(t *testing.T) {
	o, _ := quiet(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 6, fail_at: 6, fail_times: 1, metrics: {timesteps_this_iter: 10}}}
checkpoint: {every: 2}
failures: {retries: 1}
`)
	ended := finish(t, o)
	lines := resultLines(t, ended.Dir, "00000")
	for i, line := range lines {
		for _, name := range []string{"trial_id", "iteration", "time_total_s", "time_this_iter_s", "timestamp", "done",
			"pid", "host", "attempt",
			"timesteps_total", "timesteps_since_restore"} {
			if _, ok := line[name]; !ok {
				t.Errorf("line %d lacks %s", i+1, name)
			}
		}
		if pid, _ := line["pid"].(float64); pid <= 1 {
			t.Errorf("line %d: pid %v", i+1, line["pid"])
		}
	}
	last := lines[len(lines)-1]
	want := map[string]any{"iteration": 6.0, "attempt": 2.0, "iterations_since_restore": 2.0,
		"timesteps_since_restore": 20.0, "timesteps_total": 60.0, "done": true}
	for name, x := range want {
		if last[name] != x {
			t.Errorf("the last result has %s %v, want %v", name, last[name], x)
		}
	}
	if first := lines[0]; first["attempt"] == 1.0 && first["iterations_since_restore"] != nil {
		t.Errorf("the first attempt, which was not restored, has iterations_since_restore %v",
			first["iterations_since_restore"])
	}
	total := 0.0
	for _, line := range lines {
		if x := line["time_total_s"].(float64); x < total {
			t.Errorf("time_total_s falls to %v", x)
		} else {
			total = x
		}
	}
}

// B-017
func TestSummaries(t *testing.T) {
	o, _ := quick(t, one, reports(scores(5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 4)...))
	m := audit(t, finish(t, o).Dir, nil)
	s, _ := m.Summary(0, m.Metric("score"))
	if s.First != 5 || s.Last != 4 || s.Min != 1 || s.Max != 10 || math.Abs(s.Mean-64.0/12) > 1e-12 ||
		s.Mean5 != 38.0/5 || s.Mean10 != 58.0/10 {
		t.Errorf("%+v", s)
	}
}
