package stoprules

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// world returns a machine on which both of two trials run.
func world(t *testing.T) *core.Machine {
	t.Helper()
	one, err := resource.ParseRequest("cpu=1")
	if err != nil {
		t.Fatal(err)
	}
	two, err := resource.ParseBundle("cpu=2")
	if err != nil {
		t.Fatal(err)
	}
	m := core.New()
	var ask core.AskSearcher
	for _, e := range []core.Event{
		&core.ExperimentStarted{Spec: core.Spec{Trials: 2, Request: one,
			Objectives: []core.Objective{{Metric: "score", Mode: stat.Max}}}},
		&core.HostStarted{Wall: 1, PID: 1, Host: "h"},
		&core.MetricNamed{ID: 1, Name: "score"},
		&core.NodeJoined{Node: resource.Node{ID: 1, Capacity: two}},
	} {
		for _, a := range m.Apply(1, e) {
			if a, ok := a.(core.AskSearcher); ok {
				ask = a
			}
		}
	}
	some := core.Suggestion{Params: []byte("{}")}
	m.Apply(2, &core.SuggestionsReceived{Ask: ask.Ask, Suggestions: []core.Suggestion{some, some}[:ask.Count]})
	if m.State(0) != core.Running || m.State(1) != core.Running {
		t.Fatal(m.State(0), m.State(1))
	}
	return m
}

func scored(no core.TrialNo, attempt uint32, score float64) inbox.Item {
	return inbox.Item{Result: &inbox.Result{Trial: no, Attempt: attempt,
		Result: sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: score}}}}}
}

func level3() *Rules {
	return New(&config.Experiment{Stop: config.Stop{Plateau: &config.Plateau{Metric: "score", Last: 3}}})
}

// B-018: a result is judged after all earlier events are applied; results of different trials are
// judged together.
func TestCut(t *testing.T) {
	left := inbox.Item{Event: &core.NodeLeft{ID: 1}}
	for _, c := range []struct {
		batch []inbox.Item
		want  int
	}{
		{[]inbox.Item{scored(0, 1, 1), scored(1, 1, 1), left}, 3},
		{[]inbox.Item{scored(0, 1, 1), scored(1, 1, 1), scored(0, 1, 1)}, 2},
		{[]inbox.Item{left, scored(0, 1, 1)}, 1},
		{[]inbox.Item{scored(1, 1, 1), left, left, scored(0, 1, 1)}, 3},
	} {
		if n := level3().Cut(c.batch); n != c.want {
			t.Errorf("%d of %d are one step; want %d", n, len(c.batch), c.want)
		}
		if n := New(&config.Experiment{}).Cut(c.batch); n != len(c.batch) {
			t.Errorf("without rules, %d of %d", n, len(c.batch))
		}
	}
}

// B-018: a result that does not count for the trial counts for no rule, live and on replay.
func TestOnlyWhatCounts(t *testing.T) {
	m := world(t)
	live, recalled := level3(), level3()
	number := func(string) core.MetricID { return 1 }
	stopped := 0
	report := func(n inbox.Item) {
		e := *live.Result(m, 3, number, n.Result)
		recalled.Recall(m, &e)
		m.Apply(3, &e)
		if e.Stop != nil {
			stopped++
		}
	}
	report(scored(0, 1, 5))
	report(scored(0, 2, 5)) // of an unknown attempt
	report(scored(0, 1, 5))
	if stopped != 0 {
		t.Error("two values are taken for three")
	}
	if live.results != 2 || recalled.results != 2 {
		t.Errorf("%d results counted, and %d recalled; want 2", live.results, recalled.results)
	}
	report(scored(0, 1, 5))
	report(scored(0, 1, 5)) // after the stop
	if stopped != 1 || live.results != 3 || recalled.results != 3 {
		t.Errorf("stopped %d times after %d results, %d recalled; want once after 3", stopped, live.results,
			recalled.results)
	}
}

// B-018: the time in an expression is that of the result, not that of the event before it.
func TestTimeIsThatOfTheResult(t *testing.T) {
	const second = 1_000_000_000
	for _, rule := range []string{`when: "time >= 1"`, `time_since_restore: 1`} {
		e, err := config.Parse("x.yaml", []byte("version: 1\nobjective: {metric: score, mode: max}\ntrials: 1\n"+
			"space: {x: {uniform: [0, 1]}}\ntrainable: {command: [a]}\nstop: {"+rule+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		m, number := world(t), func(string) core.MetricID { return 1 }
		if e := New(e).Result(m, second/2, number, scored(0, 1, 5).Result); e.Stop != nil {
			t.Errorf("%s stops after half a second: %v", rule, e.Stop)
		}
		if e := New(e).Result(m, 3*second/2, number, scored(0, 1, 5).Result); e.Stop == nil {
			t.Errorf("%s does not stop a trial with its result after more than a second", rule)
		}
	}
}

// TestForgetsWhatIsOver checks that the state of the rules does not grow with the trials that have
// ended, live and on replay.
func TestForgetsWhatIsOver(t *testing.T) {
	m, iterations := world(t), 5.0
	m.Apply(3, &core.SettingsChanged{Spec: core.Spec{Trials: -1, Concurrency: 2,
		PluginTraits: core.PluginTraits{Quiet: true}, Request: m.Spec().Request,
		Objectives: m.Spec().Objectives}})
	file := &config.Experiment{Stop: config.Stop{Plateau: &config.Plateau{Metric: "score", Last: 3},
		Metrics: []config.MetricRule{{Metric: sinceIterations, Reach: &iterations}}}}
	live, recalled := New(file), New(file)
	for no := range core.TrialNo(2000) {
		if m.State(no) != core.Running {
			t.Fatalf("trial %d is %s", no, m.State(no))
		}
		e := *live.Result(m, 4, func(string) core.MetricID { return 1 }, scored(no, 1, 5).Result)
		recalled.Recall(m, &e)
		m.Apply(4, &e)
		answer(m, m.Apply(4, &core.AttemptEnded{Trial: no, Attempt: 1}))
	}
	for _, n := range []int{len(live.kept.courses), len(live.plateau), len(recalled.kept.courses),
		len(recalled.plateau)} {
		if n > 2*minSweep {
			t.Errorf("%d trials are known, but 2 run", n)
		}
	}
}

// answer gives the machine the suggestions that it asks for.
func answer(m *core.Machine, actions []core.Action) {
	for _, a := range actions {
		if a, ok := a.(core.AskSearcher); ok {
			some := slices.Repeat([]core.Suggestion{{Params: []byte("{}")}}, a.Count)
			answer(m, m.Apply(4, &core.SuggestionsReceived{Ask: a.Ask, Suggestions: some}))
			return
		}
	}
}

// A rule that takes too many steps never holds. That is said, not kept silent; a missing value is nobody's mistake.
func TestRuleOfTooManySteps(t *testing.T) {
	const ten = "[1,2,3,4,5,6,7,8,9,10]"
	heavy := ten + ".all(a," + ten + ".all(b," + ten + ".all(c," + ten + ".all(d," + ten + ".all(e, score > 0.0)))))"
	for when, want := range map[string]bool{heavy: true, "other > 0": false} {
		e, err := config.Parse("a.yaml", []byte("version: 1\nobjective: {metric: score, mode: max}\n"+
			"trainable: {command: [a]}\nstop: {when: '"+when+"'}\nbudget: {when: '"+
			strings.ReplaceAll(strings.ReplaceAll(when, "other", "best"), "score", "best")+"'}\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, m, said := New(e), world(t), []string(nil)
		r.Warn = func(text string) { said = append(said, text) }
		x := scored(0, 1, 1).Result
		if out := r.Result(m, 3, func(string) core.MetricID { return 1 }, x); out.Stop != nil {
			t.Error(out.Stop)
		}
		if text := strings.Join(said, "\n"); want != (strings.Contains(text, "stop.when does not count: ") &&
			strings.Contains(text, "budget.when does not count: ")) || want != (said != nil) {
			t.Errorf("%s: %q", when, said)
		}
	}
}

// Squares of large values overflow, and so do sums of values of both signs; their deviation does not.
func TestDeviationOfLargeValues(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{
		{[]float64{1e200, 3e200}, 1e200},
		{[]float64{1.5e308, -1.5e308}, 1.5e308},
		{[]float64{1.7e308, 1.7e308, 1.7e308}, 0},
		{[]float64{1, 3}, 1},
		{[]float64{0, 0}, 0},
	} {
		if got := deviation(c.list); !(math.Abs(got-c.want) <= 1e-9*c.want) {
			t.Errorf("the deviation of %v is %v, want %v", c.list, got, c.want)
		}
	}
}
