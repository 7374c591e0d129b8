package host

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/replay"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// planner is a searcher whose points tell how many trials it was told are planned.
var planner = sdk.SearcherPlugin{
	Info: sdk.Info{Name: "planner", Version: "1", Options: noOptions},
	Open: func(p sdk.Problem, _ []byte) (sdk.Searcher, sdk.Traits, error) {
		return planned(p.Trials), sdk.Traits{}, nil
	},
}

type planned int

func (planned) Observe(context.Context, []sdk.Event) error { return nil }

func (p planned) Suggest(_ context.Context, requests []sdk.Request) (s sdk.Suggestions, err error) {
	for range requests {
		s.Points = append(s.Points, space.Point{float64(p) / 100})
	}
	return s, nil
}

// halted makes an experiment of six trials whose first one waits for g.open.
func halted(t *testing.T) (Options, *testplace.Screen, *halting) {
	g := &halting{reached: make(chan struct{}), open: make(chan struct{})}
	o, seen := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: halting}\n"+
		"space: {x: {uniform: [0, 1]}}\nsearcher: planner\ntrials: 6\nconcurrency: 1\n", planner, sdk.TrainablePlugin{
		Info: sdk.Info{Name: "halting", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return g, sdk.TrainableTraits{Saves: true, Shared: true, Reusable: true}, nil
		},
	})
	o.Verbose = 1
	return o, seen, g
}

func set(h steer.Handler, settings ...string) (steer.Answer, error) {
	return h.Do(steer.Set{Settings: settings})
}

// B-083: settings change while a host runs: immediately those that the core uses, and no others;
// the next host continues with them, also from a file that does not know of them.
func TestSetWhileItRuns(t *testing.T) {
	o, seen, g := halted(t)
	running := make(chan Running, 1)
	o.OnStart = func(r Running) { running <- r }
	done := begin(t, t.Context(), o)
	<-g.reached
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	r := <-running
	for text, want := range map[string]string{
		"stop={score: 3}":    "stop.score cannot be changed while a host runs",
		"objective.mode=min": "objective.mode cannot be set: with another one it is another experiment",
		"seed=3":             "seed cannot be set: an experiment keeps the value with which it began",
		"searcher=grid":      "`tunehost run FILE --set searcher=... --extend` extends it",
		"trials=z":           `trials=z: found the text "z", expected a whole number`,
		"trails=3":           `trails`,
	} {
		_, err := set(r.Steer, "concurrency=3", text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	a, err := set(r.Steer, "trials=3", "budget.time=1h")
	if err != nil || len(a.Changed) != 2 || a.Later {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err := set(r.Steer, "trials=3"); err != nil || len(a.Changed) != 0 {
		t.Errorf("set again: %+v, %v", a, err)
	}
	if s, err := r.View.Status(time.Now()); err != nil || s.Planned != 3 || s.Budget != time.Hour {
		t.Errorf("%+v, %v", s, err)
	}
	open()
	ended := <-done
	if m := audit(t, ended.Dir, nil); m.Trials() != 3 || m.Spec().Concurrency != 1 || !m.Spec().Saves {
		t.Errorf("%d trials, concurrency %d, saves %t", m.Trials(), m.Spec().Concurrency, m.Spec().Saves)
	}
	if _, err := set(r.Steer, "trials=4"); err == nil {
		t.Error("set after the end")
	}
	goesOnWithWhatWasSet(t, o, seen, ended.Dir)
}

// B-083: trials counts the planned ones. A user who sets it hears how many there will be with those that were
// added, and the status has the same number.
func TestSetTrialsBesidesAdded(t *testing.T) {
	o, _, g := halted(t)
	running := make(chan Running, 1)
	o.OnStart = func(r Running) { running <- r }
	done := begin(t, t.Context(), o)
	<-g.reached
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	r := <-running
	if a, err := set(r.Steer, "trials=7"); err != nil || len(a.Warnings) != 0 {
		t.Errorf("without added trials: %+v, %v", a, err)
	}
	a, err := set(r.Steer, "failures.lost=3", "stop.time=0")
	if err != nil || len(a.Warnings) != 2 || !strings.Contains(a.Warnings[0], "failures.lost has no effect") ||
		!strings.Contains(a.Warnings[1], "stop.time has no effect") {
		t.Errorf("keys without effect: %+v, %v", a, err)
	}
	if _, err := r.Steer.Do(steer.Add{Params: []byte(`{"x":0.5}`)}); err != nil {
		t.Fatal(err)
	}
	a, err = set(r.Steer, "trials=4")
	if err != nil || !slices.Equal(a.Warnings,
		[]string{"trials: added trials (1) come on top: there will be 5 in total"}) {
		t.Errorf("%+v, %v", a, err)
	}
	if s, err := r.View.Status(time.Now()); err != nil || s.Planned != 5 || s.Added != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := set(r.Steer, "stop.iteraton=3"); err == nil ||
		!strings.Contains(err.Error(), `when it began; did you mean "stop.iteration"? If not, interrupt it`) {
		t.Errorf("a misspelt key: %v", err)
	}
	open()
	dir := (<-done).Dir
	if m := audit(t, dir, nil); m.Trials() != 5 {
		t.Errorf("%d trials", m.Trials())
	}
	a, err = set(&steer.Resting{View: opened(t, dir).Experiment}, "trials=2")
	if err != nil || !slices.Equal(a.Warnings, []string{
		"trials: 2 are planned now, but there are 4 already: none is removed",
		"trials: added trials (1) come on top: there will be 5 in total"}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// goesOnWithWhatWasSet sets more while no host runs, and continues from the file.
func goesOnWithWhatWasSet(t *testing.T, o Options, seen *testplace.Screen, path string) {
	rests := &steer.Resting{View: opened(t, path).Experiment}
	if _, err := set(rests, "objective.metric=loss"); err == nil {
		t.Error("another objective was set")
	}
	a, err := set(rests, "trials=5", "stop={score: 100}")
	if err != nil || len(a.Changed) != 2 || !a.Later {
		t.Fatalf("%+v, %v", a, err)
	}
	seen.Reset()
	o.OnStart = nil
	finish(t, o)
	if m := audit(t, path, nil); m.Trials() != 5 || len(m.Spec().Stop.Metrics) != 1 {
		t.Errorf("%d trials, %+v", m.Trials(), m.Spec().Stop)
	}
	contains(t, seen.String(), "test.yaml:6:1: trials was set on ", " to 5, and the experiment keeps that value; "+
		"here it is still 6: write trials: 5 into the file")
	if strings.Contains(seen.String(), "trials was extended") {
		t.Error(seen)
	}
	o.Sets = []string{"trials=7"}
	finish(t, o)
	// Each host's searcher hears of the settings that its host began with, and a replay tells
	// its searchers the same.
	got := params(audit(t, path, nil))
	want := []string{`{"x":0.06}`, `{"x":0.06}`, `{"x":0.06}`, `{"x":0.05}`, `{"x":0.05}`, `{"x":0.07}`, `{"x":0.07}`}
	if !slices.Equal(got, want) {
		t.Errorf("trials %v", got)
	}
	if err := replay.Check(t.Context(), path, o.Plugins); err != nil {
		t.Error(err)
	}
}

// B-083: a file with the trials that an experiment had before it was extended does not take
// them back.
func TestFileWithFewerTrialsThanExtended(t *testing.T) {
	o, seen := extend(t, extended, []string{"searcher=grid", "trials=20"})
	o.Sets = []string{"searcher={plugin: random}", "trials=20", "space.x={uniform: [0, 2]}"}
	finish(t, o)
	seen.Reset()
	o.Sets, o.Extend = nil, false
	finish(t, o)
	if m := audit(t, filepath.Join(o.Storage, "test"), nil); m.Spec().Trials != 20 {
		t.Errorf("trials: %d", m.Spec().Trials)
	}
	contains(t, seen.String(), "test.yaml:6:1: trials was set on ", "write trials: 20 into the file")
}

// B-007: what cannot be done to an experiment that no host runs is refused with the way in
// which it can.
func TestWhatRests(t *testing.T) {
	o, _ := quick(t, extended, wobbly(0))
	e := opened(t, finish(t, o).Dir)
	rests := &steer.Resting{View: e.Experiment, Shown: "DIR"}
	for _, c := range []struct {
		r    steer.Request
		want string
	}{
		{steer.Stop{}, "test is finished: there is nothing to control"},
		{steer.Interrupt{}, "test is finished: there is nothing to control"},
		{steer.Pause{Trial: "1"}, "test is finished: there is nothing to control"},
		{steer.Unpause{}, "test is finished: there is nothing to control"},
		{steer.Retry{Trial: "3"}, "is TERMINATED: only a trial in ERROR can be run again"},
		{steer.Retry{Trial: "9"}, `no trial "9"`},
		{steer.Add{Params: []byte("{}")}, "`tunehost set DIR trials=N` and then `tunehost resume DIR` run more trials"},
		{steer.Set{}, "expected KEY=VALUE"},
	} {
		if _, err := rests.Do(c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	if _, err := e.Refresh(); err != nil || e.Count() != 6 || e.State() != core.Finished.String() {
		t.Errorf("%d trials, %s, %v", e.Count(), e.State(), err)
	}
}

// opened is the experiment in a directory.
func opened(t *testing.T, path string) *view.Recorded {
	t.Helper()
	e, err := view.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// What was made is not taken back by fewer trials, and the user is told.
func TestFewerTrialsThanThereAre(t *testing.T) {
	o, seen := quick(t, extended, wobbly(0))
	o.Verbose = 1
	finish(t, o)
	o.Sets = []string{"trials=4"}
	finish(t, o)
	contains(t, seen.String(), "warning: trials: 4 are planned now, and 6 are there already: none is removed")
	seen.Reset()
	finish(t, o)
	if strings.Contains(seen.String(), "are planned now") {
		t.Errorf("said again: %s", seen)
	}
}

// B-083: a file that has not changed does not take back what was set, also where the experiment began with
// another value by --set.
func TestSetOverWhatItBeganWith(t *testing.T) {
	o, seen := quick(t, extended, wobbly(0))
	o.Verbose, o.Sets = 1, []string{"trials=4"}
	path := finish(t, o).Dir
	if _, err := set(&steer.Resting{View: opened(t, path).Experiment}, "trials=5"); err != nil {
		t.Fatal(err)
	}
	seen.Reset()
	o.Sets = nil
	finish(t, o)
	if m := audit(t, path, nil); m.Trials() != 5 {
		t.Errorf("%d trials", m.Trials())
	}
	contains(t, seen.String(), "test.yaml:6:1: trials was set on ", " to 5, and the experiment keeps that value; "+
		"here it is still 6: write trials: 5 into the file")
}

// B-083: what is set between the planning of a host and its lock holds for that host.
func TestSetJustBefore(t *testing.T) {
	text := "version: 1\nobjective: {metric: score, mode: max}\n" +
		"trainable: {plugin: chaos, options: {iterations: 1}}\n" +
		"space: {quality: {uniform: [0, 1]}}\nsearcher: random\ntrials: 2\n"
	o, _ := quick(t, text)
	dir := finish(t, o).Dir
	for i, plan := range []func(o *Options) (*prepare.Plan, error){
		func(o *Options) (*prepare.Plan, error) { return prepare.FromDir(t.Context(), dir, o) },
		func(o *Options) (*prepare.Plan, error) { return prepare.FromFile(t.Context(), *o) },
	} {
		setDefaults(&o)
		p, err := plan(&o)
		if err != nil {
			t.Fatal(err)
		}
		want := 3 + i
		if _, err := set(&steer.Resting{View: opened(t, dir).Experiment}, fmt.Sprint("trials=", want)); err != nil {
			t.Fatal(err)
		}
		if _, err := runPlan(t.Context(), p, o); err != nil {
			t.Error(err)
		}
		if m := audit(t, dir, nil); m.Trials() != want {
			t.Errorf("%d trials, want %d", m.Trials(), want)
		}
	}
}
