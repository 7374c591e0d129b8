package host

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// What plugins send that makes no sense is answered with a message that names
// what it was; it never reaches the record, and never ends the host. The
// plugins here run in the test's process: what only a process can do is in
// package hosttest.

const two = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: reports}
space: {x: {uniform: [0, 1]}}
seed: 5
trials: 2
`

func score(x float64, more ...sdk.Metric) sdk.Result {
	return sdk.Result{Metrics: append([]sdk.Metric{{Name: "score", Value: x}}, more...)}
}

func scored(iteration uint64) sdk.Result {
	r := score(1)
	r.Iteration = iteration
	return r
}

// B-070: a result that makes no sense fails its trial, is not recorded, and
// neither is anything after it.
func TestInvalidResults(t *testing.T) {
	named := func(name string) sdk.Result { return score(2, sdk.Metric{Name: name, Value: 1}) }
	many := score(2)
	for i := range sdk.MaxMetrics {
		many.Metrics = append(many.Metrics, sdk.Metric{Name: fmt.Sprint("m", i)})
	}
	for name, c := range map[string]struct {
		bad  sdk.Result
		says string
	}{
		"empty name":     {named(""), "a metric has no name"},
		"10 kB":          {named(strings.Repeat("n", 10_000)), "is longer than 128 bytes"},
		"control":        {named("a\x1b[2Jb"), `metric name "a\x1b[2Jb" has an unprintable character`},
		"not UTF-8":      {named("a\xff"), "has an unprintable character"},
		"direction":      {named("a\u202eb"), "has an unprintable character"},
		"twice":          {named("score"), `metric "score" occurs twice in a result`},
		"10,001 metrics": {many, "a result has 10001 metrics; at most 10000"},
		"goes back":      {scored(2), "iteration 2 after iteration 3"},
		"repeats":        {scored(3), "iteration 3 after iteration 3"},
		"jumps too far":  {scored(1<<53 + 1), "is beyond 9007199254740992"},
		"wraps":          {scored(math.MaxUint64), "is beyond 9007199254740992"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := quick(t, two, reports(scored(3), c.bad, score(4)))
			ended := finish(t, o)
			m := audit(t, ended.Dir, nil)
			for no := range core.TrialNo(2) {
				v := m.View(no)
				if v.State != core.Errored || v.Results != 1 {
					t.Errorf("trial %d is %v with %d results, want ERROR with one", no, v.State, v.Results)
				}
				contains(t, v.Reason(), "it reported nonsense: ", c.says)
				if strings.Contains(v.Reason(), "\x1b") || !utf8.ValidString(v.Reason()) {
					t.Errorf("the reason has what it should not: %q", v.Reason())
				}
			}
			if ended.Outcome != core.Finished || ended.Errored != 2 {
				t.Errorf("%+v", ended)
			}
		})
	}
}

// Numbers of all kinds are kept bit by bit, and an iteration may jump.
func TestStrangeNumbersAreKept(t *testing.T) {
	values := []float64{1e308, 5e-324, math.Copysign(0, -1), 1<<53 + 2, -math.MaxFloat64}
	r := scored(1 << 40)
	for i, x := range values {
		r.Metrics = append(r.Metrics, sdk.Metric{Name: fmt.Sprint("m", i), Value: x})
	}
	o, _ := quick(t, two, reports(r))
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	for i, want := range values {
		s, ok := m.Summary(0, m.Metric(fmt.Sprint("m", i)))
		if !ok || math.Float64bits(s.Last) != math.Float64bits(want) {
			t.Errorf("%v became %v", want, s.Last)
		}
	}
	if v := m.View(0); v.Iteration != 1<<40 || v.State != core.Terminated {
		t.Errorf("%v at iteration %d", v.State, v.Iteration)
	}
	contains(t, trialFile(t, ended.Dir, "00000", "result.jsonl"), "1e+308", "5e-324", "1099511627776")
}

// suggests is a searcher of the name "strange" that suggests the same point for
// ever, with a status.
func suggests(p space.Point, status sdk.Status, n int) sdk.SearcherPlugin {
	return searcherOf("strange", func(sdk.Problem) asked {
		return func(r []sdk.Request) (answer sdk.Suggestions, _ error) {
			answer.Status = status
			for range max(n, len(r)*(1-min(n, 1))) {
				answer.Points = append(answer.Points, p)
			}
			return answer, nil
		}
	})
}

// B-107, B-077: the searcher is named, the experiment stops, saved, and continues
// with a searcher that behaves.
func TestInvalidSuggestions(t *testing.T) {
	for name, c := range map[string]struct {
		bad  sdk.SearcherPlugin
		says string
	}{
		"outside": {suggests(space.Point{1.5, 0}, sdk.Ready, 0),
			`searcher strange: its suggestion 0 cannot be a trial`},
		"NaN":           {suggests(space.Point{math.NaN(), 0}, sdk.Ready, 0), `its suggestion 0 cannot be a trial`},
		"infinite":      {suggests(space.Point{math.Inf(1), 0}, sdk.Ready, 0), `its suggestion 0 cannot be a trial`},
		"no such value": {suggests(space.Point{0.5, 7}, sdk.Ready, 0), `its suggestion 0 cannot be a trial`},
		"half a value":  {suggests(space.Point{0.5, 0.5}, sdk.Ready, 0), `its suggestion 0 cannot be a trial`},
		"short":         {suggests(space.Point{0.5}, sdk.Ready, 0), `has length 1; expected 2, one for each parameter`},
		"too many":      {suggests(space.Point{0.5, 0}, sdk.Ready, 100), `it returned more points (100) than`},
		"status":        {suggests(space.Point{0.5, 0}, 9, 0), "it returned the unknown status 9"},
	} {
		t.Run(name, func(t *testing.T) {
			o, seen := quick(t, strings.Replace(two, "space: {x: {uniform: [0, 1]}}",
				"space: {x: {uniform: [0, 1]}, c: {choice: [a, b]}}\npoints: [{x: 0.5, c: a}]\nsearcher: strange", 1),
				reports(score(1)), c.bad)
			ended := finish(t, o)
			if ended.Outcome != core.Failed {
				t.Fatalf("%+v", ended)
			}
			contains(t, ended.Reason, "strange", c.says)
			if m := audit(t, ended.Dir, nil); m.Trials() != 1 || m.Count(core.Running) != 0 {
				t.Errorf("%d trials, %d of them running; want the user's point alone", m.Trials(),
					m.Count(core.Running))
			}
			good := suggests(space.Point{0.25, 1}, sdk.Ready, 0)
			o, _ = again(o, reports(score(1)), good)
			pluginsOf.Store(o.Storage, o.Plugins)
			if ended := finish(t, o); ended.Outcome != core.Finished || ended.Errored != 0 {
				t.Errorf("with a searcher that behaves: %+v\n%s", ended, seen)
			}
		})
	}
}

// decides is a scheduler of the name "strange" that answers each batch with a
// function of it.
type decides func(events []sdk.Event) sdk.Decisions

func (f decides) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	return f(events), nil
}

func schedulerOf(f decides) sdk.SchedulerPlugin {
	return sdk.SchedulerPlugin{
		Info: sdk.Info{Name: "strange", Version: "1", Options: noOptions},
		Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return f, sdk.Traits{Saves: true}, nil
		},
	}
}

// onResults answers each result with what f says.
func onResults(f func(e sdk.Event) ([]sdk.Decision, []sdk.Command)) decides {
	return func(events []sdk.Event) (answer sdk.Decisions) {
		for _, e := range events {
			if e.Kind == sdk.ResultReported {
				d, c := f(e)
				answer.Decisions, answer.Commands = append(answer.Decisions, d...), append(answer.Commands, c...)
			}
		}
		return answer
	}
}

func always(d ...sdk.Decision) decides {
	return onResults(func(e sdk.Event) ([]sdk.Decision, []sdk.Command) {
		out := append([]sdk.Decision{}, d...)
		for i := range out {
			if out[i].Event == 0 {
				out[i].Event = e.Number
			}
		}
		return out, nil
	})
}

func orders(c ...sdk.Command) decides {
	return onResults(func(e sdk.Event) ([]sdk.Decision, []sdk.Command) { return nil, c })
}

const scheduled = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 4, any_params: true}}
space: {x: {uniform: [0, 1]}}
scheduler: strange
seed: 5
trials: 3
`

// B-077: an answer that contradicts itself, or is about nothing that was asked,
// is a failure of the scheduler; after three the experiment stops, saved, naming
// it.
func TestInvalidDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		bad  decides
		says string
	}{
		"stop and continue": {always(sdk.Decision{Verdict: sdk.Stop}, sdk.Decision{}),
			"which is not a result of this call or was decided already"},
		"on nothing": {always(sdk.Decision{Event: 1 << 60}),
			"which is not a result of this call or was decided already"},
		"unknown verdict": {always(sdk.Decision{Verdict: 9}), "the unknown verdict 9"},
		"unknown command": {orders(sdk.Command{Kind: 99}), "the unknown command 99"},
		"short point": {orders(sdk.Command{Kind: sdk.Exploit, Point: space.Point{}}),
			"has length 0; expected 1, one for each parameter"},
		"outside the space": {orders(sdk.Command{Kind: sdk.Exploit, Donor: 1, Point: space.Point{7}}),
			"scheduler strange: its command cannot be carried out"},
		"NaN": {orders(sdk.Command{Kind: sdk.Exploit, Donor: 1, Point: space.Point{math.NaN()}}),
			"its command cannot be carried out"},
		"negative resources": {orders(sdk.Command{Kind: sdk.Resize, Resources: []byte(`{"cpu": -1}`)}),
			"its command cannot be carried out: resource cpu"},
		"NaN resources": {orders(sdk.Command{Kind: sdk.Resize, Resources: []byte(`{"cpu": "NaN"}`)}),
			"its command cannot be carried out: resource cpu"},
		"huge resources": {orders(sdk.Command{Kind: sdk.Resize, Resources: []byte(`{"cpu": 1e30}`)}),
			"its command cannot be carried out: resource cpu"},
		"more than the record takes": {orders(slices.Repeat([]sdk.Command{{Kind: sdk.Resume,
			Reason: strings.Repeat("x", 500)}}, 4000)...), "bytes in the record; at most"},
		"resume an unknown trial": {orders(sdk.Command{Kind: sdk.Resume, Trial: math.MaxUint32}),
			"its command cannot be carried out: RESUME is for trial 4294967295, which does not exist: there "},
		"stop an unknown trial": {orders(sdk.Command{Kind: sdk.StopTrial, Trial: 3}),
			"STOP_TRIAL is for trial 3, which does not exist: there "},
		"exploit an unknown trial": {orders(sdk.Command{Kind: sdk.Exploit, Trial: 77}),
			"EXPLOIT is for trial 77, which does not exist: there "},
		"resize an unknown trial": {orders(sdk.Command{Kind: sdk.Resize, Trial: 9, Resources: []byte(`{"tpu": 5}`)}),
			"RESIZE is for trial 9, which does not exist: there "},
		"deep resources": {orders(sdk.Command{Kind: sdk.Resize,
			Resources: []byte(strings.Repeat(`{"a":`, 20_000))}), "its command cannot be carried out: resources"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := quick(t, scheduled, schedulerOf(c.bad))
			ended := finish(t, o)
			if ended.Outcome != core.Failed || len(ended.Reason) > 1000 {
				t.Fatalf("%+v", ended)
			}
			contains(t, ended.Reason, "strange", c.says)
			if m := audit(t, ended.Dir, nil); m.Count(core.Running) != 0 || m.Count(core.Errored) != 0 {
				t.Errorf("%d trials run, %d failed", m.Count(core.Running), m.Count(core.Errored))
			}
			o, _ = again(o, schedulerOf(always()))
			pluginsOf.Store(o.Storage, o.Plugins)
			if ended := finish(t, o); ended.Outcome != core.Finished || ended.Errored != 0 {
				t.Errorf("with a scheduler that behaves: %+v", ended)
			}
		})
	}
}

// Orders about trials that do not exist, have ended, or cannot be commanded so
// change nothing; every trial comes to its end.
func TestOrdersThatDoNotFit(t *testing.T) {
	for name, c := range map[string]sdk.Command{
		"exploit an unknown donor":  {Kind: sdk.Exploit, Trial: 0, Donor: 77},
		"exploit itself":            {Kind: sdk.Exploit, Trial: 0, Donor: 0},
		"exploit no checkpoint":     {Kind: sdk.Exploit, Trial: 0, Donor: 1, Iteration: 99},
		"resume one that runs":      {Kind: sdk.Resume, Trial: 0},
		"stop one that runs":        {Kind: sdk.StopTrial, Trial: 0},
		"resize one that runs":      {Kind: sdk.Resize, Trial: 0, Resources: []byte(`{"cpu": 1}`)},
		"resize to nothing":         {Kind: sdk.Resize, Trial: 0},
		"exploit an unknown moment": {Kind: sdk.Exploit, Trial: 0, Donor: 1, Iteration: math.MaxUint64},
	} {
		t.Run(name, func(t *testing.T) {
			c.Reason = "on a \x1b[31mwhim" + strings.Repeat("!", 1<<20)
			o, seen := quick(t, scheduled, schedulerOf(orders(c, c)))
			o.Resources = "(cpu=1)" // one after the other: later trials are commanded when earlier have ended
			ended := finish(t, o)
			m := audit(t, ended.Dir, nil)
			if ended.Outcome != core.Finished || m.Count(core.Terminated) != 3 {
				t.Errorf("%+v, %d trials ended well", ended, m.Count(core.Terminated))
			}
			if strings.Contains(seen.String(), "\x1b[31m") || len(seen.String()) > 100_000 {
				t.Errorf("%d bytes are shown, escapes among them", len(seen.String()))
			}
		})
	}
}

// B-122: what a scheduler does wrong with each trial, and lines of many programs that are no reports, are one warning
// each, and one line with their number in the summary. host.log has all.
func TestWarningsOfManyTrials(t *testing.T) {
	itself := onResults(func(e sdk.Event) ([]sdk.Decision, []sdk.Command) {
		return nil, []sdk.Command{{Kind: sdk.Exploit, Trial: e.Trial, Donor: e.Trial}}
	})
	garbles := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "reports", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				run.(sdk.Rejecter).Reject("one")
				run.(sdk.Rejecter).Reject("two")
				return run.Report(score(1), nil)
			}), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
		},
	}
	o, seen := quick(t, strings.Replace(two, "trials: 2", "trials: 3\nscheduler: strange", 1), garbles,
		schedulerOf(itself))
	o.Verbose = 1
	dir := finish(t, o).Dir
	log, err := os.ReadFile(filepath.Join(dir, "host.log"))
	if err != nil {
		t.Fatal(err)
	}
	for text, logged := range map[string]int{"not a report: ": 6, "it cannot continue from the checkpoint that": 3} {
		if n := strings.Count(string(log), text); n != logged {
			t.Errorf("%s: %d in the log:\n%s", text, n, log)
		}
	}
	for text, shown := range map[string]int{": not a report: ": 1, "more of this kind is in host.log alone": 2,
		"3 trials sent lines that are no reports; host.log has them": 1,
		"3 trials had this warning: it cannot continue from the":     1} {
		if n := strings.Count(seen.String(), text); n != shown {
			t.Errorf("%q is shown %d times:\n%s", text, n, seen)
		}
	}
}

// A circle of exploits comes to an end like any other.
func TestExploitsInACircle(t *testing.T) {
	moved := map[uint32]int{}
	circle := onResults(func(e sdk.Event) ([]sdk.Decision, []sdk.Command) {
		if e.Iteration != 2 || moved[e.Trial] > 2 {
			return nil, nil
		}
		moved[e.Trial]++
		return []sdk.Decision{{Event: e.Number, Verdict: sdk.Pause}},
			[]sdk.Command{{Kind: sdk.Exploit, Trial: e.Trial, Donor: (e.Trial + 1) % 3},
				{Kind: sdk.Resume, Trial: e.Trial}}
	})
	o, _ := quick(t, scheduled+"checkpoint: {every: 1}\n", schedulerOf(circle))
	t.Cleanup(func() { clear(moved) }) // it begins anew in the replay
	o.Resources = "(cpu=3)"
	ended, err := run(t.Context(), o)
	if err != nil || ended.Outcome != core.Finished {
		t.Fatal(ended, err)
	}
}

// B-038: what a trainable asks for must make sense; else the experiment stops
// before the trial is made, saved.
func TestInvalidRequests(t *testing.T) {
	for text, says := range map[string]string{
		`{"cpu": -1}`:                   "resource cpu",
		`{"cpu": "NaN"}`:                "resource cpu",
		`{"cpu": 1e18, "memory": 1e30}`: "resource memory",
		`{"cpu": 1, "a b": 1}`:          `resource name "a b"`,
		`nonsense`:                      `resources "nonsense"`,
		strings.Repeat("[", 20_000):     "resources",
	} {
		asks := sdk.TrainablePlugin{
			Info: sdk.Info{Name: "reports", Version: "1", Options: noOptions},
			Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
				return asking(text), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
			},
		}
		o, _ := quick(t, two, asks)
		ended := finish(t, o)
		if ended.Outcome != core.Failed || len(ended.Reason) > 1000 {
			t.Errorf("%.50s: %+v", text, ended)
		}
		contains(t, ended.Reason, `trainable "reports" answered`, says)
		if m := audit(t, ended.Dir, nil); m.Trials() != 0 {
			t.Errorf("%.50s: %d trials", text, m.Trials())
		}
	}
}

// asking asks for the same text for every trial.
type asking string

func (a asking) Request([]byte) ([]byte, error) { return []byte(a), nil }
func (asking) Train(_ context.Context, run sdk.Run) error {
	return run.Report(score(1), nil)
}

// Text of plugins is escaped wherever it goes: log, terminal, record, files.
func TestStrangeTexts(t *testing.T) {
	const evil = "\x1b]0;owned\a\x1b[2J\xff\u202eevil\r"
	talks := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "reports", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				run.Log("log " + evil + "\nERROR: of somebody else")
				run.(sdk.Rejecter).Reject("reject " + evil)
				if err := run.Report(score(1), nil); err != nil {
					return err
				}
				return fmt.Errorf("failed %s\nin two lines", evil)
			}), sdk.TrainableTraits{Shared: true, Reusable: true}, nil
		},
	}
	stops := schedulerOf(always(sdk.Decision{Verdict: sdk.Continue, Reason: evil}))
	o, seen := quick(t, strings.Replace(two, "trials: 2", "trials: 2\nscheduler: strange", 1), talks, stops)
	o.Verbose = 3
	dir := finish(t, o).Dir
	texts := map[string]string{"screen": seen.String()}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		texts[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if strings.Contains(text, "evil") && strings.ContainsAny(text, "\x1b\a\u202e\r") &&
			!strings.Contains(name, "journal") {
			t.Errorf("%s has it unescaped:\n%.2000q", name, text)
		}
	}
	contains(t, texts[filepath.Join(dir, "host.log")], `log \x1b]0;owned\a`, `\nERROR: of somebody else`,
		"not a report: reject")
	contains(t, audit(t, dir, nil).View(0).Reason(), `failed \x1b]0;owned\a`, "\nin two lines")
}

// A path that is not UTF-8 is refused before anything starts: programs could not be told it, and run.json could not
// have it.
func TestPathsThatAreNoText(t *testing.T) {
	const source = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, any_params: true}}
space: {x: {uniform: [0, 1]}}
`
	bad := filepath.Join(t.TempDir(), "bad\xff")
	if err := os.Mkdir(bad, 0o700); err != nil {
		return // a file system that has only names in UTF-8
	}
	for what, change := range map[string]func(o *Options){
		"storage": func(o *Options) { o.Storage = bad },
		"file": func(o *Options) {
			from := o.File
			if o.File = filepath.Join(bad, "x.yaml"); os.Rename(from, o.File) != nil {
				t.Fatal("the file cannot be moved")
			}
		},
	} {
		o, _ := quick(t, source)
		change(&o)
		text := refused(t, o)
		contains(t, text, `bad\xff`, "this path is not UTF-8, in which programs are told paths: give its folders ")
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(bad), "*", "*", "run.json")); left != nil {
			t.Errorf("%s: it left %v", what, left)
		}
	}
	o, _ := quick(t, source)
	ended := finish(t, o)
	moved := filepath.Join(bad, "moved")
	if err := os.Rename(ended.Dir, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), moved, o); err == nil || !strings.Contains(err.Error(), "this path is not UTF-8") {
		t.Error(err)
	}
}
