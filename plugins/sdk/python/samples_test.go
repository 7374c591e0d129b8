package python_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// mixed is parameters of every form, with a condition and a constraint.
func mixed() *space.Space {
	return &space.Space{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
			{Name: "dropout", Kind: space.Real, Low: 0, High: 0.5, Step: 0.1},
			{Name: "units", Kind: space.Int, Low: 16, High: 1024, Log: true},
			{Name: "noise", Kind: space.Normal, Mean: 1, SD: 2},
			{Name: "net/optimizer", Kind: space.Choice, Choices: raws(`"sgd"`, `"adam"`)},
			{Name: "net/size", Kind: space.Ordinal, Choices: raws("1", "2", "4")},
			{Name: "momentum", Kind: space.Real, Low: 0, High: 0.99,
				When: &space.Expr{Op: space.In, Param: 4, Set: []int{0}}},
		},
		Constraints: []*space.Expr{{Op: space.Le, Args: []*space.Expr{
			{Op: space.Mul, Args: []*space.Expr{{Op: space.Number, Param: 2}, {Op: space.Number, Param: 5}}},
			{Op: space.Const, Number: 2000},
		}}},
	}
}

func TestSampleInfos(t *testing.T) {
	for _, c := range []struct {
		kind         sdk.Kind
		script, name string
	}{
		{sdk.KindSearcher, "samples/climber.py", "climber"},
		{sdk.KindScheduler, "samples/halfway.py", "halfway"},
		{sdk.KindTrainable, "samples/descent.py", "descent"},
		{sdk.KindTrainable, "samples/descent_resumable.py", "descent-resumable"},
	} {
		info, err := start(t, config(t, c.kind, c.script)).Describe(t.Context())
		if err != nil || info.Name != c.name || info.Version != "1.0.0" {
			t.Errorf("%s: %+v, %v", c.script, info, err)
		}
		if err := conformance.CheckInfo(info, c.kind); err != nil {
			t.Errorf("%s: %v", c.script, err)
		}
	}
}

// Points of the climber lie in the space, respect given values, come near the best, and depend only
// on the history and the seeds (B-100, B-102, B-104).
func TestClimber(t *testing.T) {
	s := mixed()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	climb := func(batch int) (points []space.Point) {
		c := openSearcher(t, start(t, config(t, sdk.KindSearcher, "samples/climber.py")), s,
			`{"start": 3, "step": 0.01}`, nil)
		var events []sdk.Event
		for i := range 12 {
			if i%batch == 0 {
				if err := c.Observe(t.Context(), events); err != nil {
					t.Fatal(err)
				}
				events = nil
			}
			request := sdk.Request{Trial: uint32(i), Seed: uint64(i) + 100}
			if i == 11 {
				request.Given = space.Point{nan, 0.2, nan, nan, 0, nan, nan}
			}
			answer, err := c.Suggest(t.Context(), []sdk.Request{request})
			if err != nil || len(answer.Points) != 1 {
				t.Fatal(answer, err)
			}
			p := answer.Points[0]
			if err := s.Check(p); err != nil || !s.Holds(p) {
				t.Fatalf("%v: %v", p, err)
			}
			points = append(points, p)
			if i < 3 { // only the random ones, so that batches make no difference
				events = append(events, told(len(points), i, p, math.Abs(math.Log10(p[0])+3))...)
			}
		}
		return points
	}
	points := climb(3)
	if p := points[11]; p[1] != 0.2 || p[4] != 0 || math.IsNaN(p[6]) {
		t.Errorf("what was given is lost: %v", p)
	}
	best := slices.MinFunc(points[:3], func(a, b space.Point) int {
		return strings.Compare(fmt.Sprintf("%020.15f", math.Abs(math.Log10(a[0])+3)),
			fmt.Sprintf("%020.15f", math.Abs(math.Log10(b[0])+3)))
	})
	for _, p := range points[3:11] {
		if d := math.Abs(s.ToUnit(0, p[0]) - s.ToUnit(0, best[0])); d > 0.1 {
			t.Errorf("%v is %v from the best, %v", p, d, best)
		}
	}
	if again := climb(1); fmt.Sprint(again) != fmt.Sprint(points) {
		t.Errorf("got %v\nand %v", points, again)
	}
}

// told returns the events of a trial with one result. Numbers begin at 3*(n-1)+1.
func told(n, trial int, p space.Point, loss float64) []sdk.Event {
	first := uint64(3*(n-1) + 1)
	return []sdk.Event{
		{Number: first, Kind: sdk.TrialAdded, Trial: uint32(trial), Point: p},
		{Number: first + 1, Kind: sdk.ResultReported, Trial: uint32(trial), Attempt: 1, Iteration: 1,
			Losses: []float64{loss}},
		{Number: first + 2, Kind: sdk.TrialCompleted, Trial: uint32(trial), Attempt: 1, Losses: []float64{loss}},
	}
}

// Suggests each point of a finite space once, then EXHAUSTED (B-100).
func TestClimberOfFiniteSpace(t *testing.T) {
	s := &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Int, Low: 1, High: 3},
		{Name: "b", Kind: space.Choice, Choices: raws("true", "false"), When: &space.Expr{
			Op: space.Ge, Args: []*space.Expr{{Op: space.Number}, {Op: space.Const, Number: 2}}}},
	}}
	c := openSearcher(t, start(t, config(t, sdk.KindSearcher, "samples/climber.py")), s, `{"start": 2}`, nil)
	seen := map[string]bool{}
	for i := range 20 {
		answer, err := c.Suggest(t.Context(), []sdk.Request{{Trial: uint32(i), Seed: uint64(i)}})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status == sdk.Exhausted {
			break
		}
		p := answer.Points[0]
		if key := fmt.Sprint(p); seen[key] || s.Check(p) != nil {
			t.Fatalf("%v after %v", p, seen)
		}
		seen[fmt.Sprint(p)] = true
		if err := c.Observe(t.Context(), told(i+1, i, p, float64(i))); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d points, want 5: %v", len(seen), seen)
	}
}

func TestHalfway(t *testing.T) {
	s := openScheduler(t, start(t, config(t, sdk.KindScheduler, "samples/halfway.py")), mixed(), `{"at": 2}`)
	number := uint64(0)
	report := func(trial uint32, iteration uint64, loss float64) sdk.Decision {
		number++
		d, err := s.Decide(t.Context(), []sdk.Event{{Number: number, Kind: sdk.ResultReported, Trial: trial, Attempt: 1,
			Iteration: iteration, Losses: []float64{loss}}})
		if err != nil || len(d.Decisions) != 1 || d.Decisions[0].Event != number {
			t.Fatal(d, err)
		}
		return d.Decisions[0]
	}
	if d := report(0, 1, 5); d.Verdict != sdk.Continue || d.Until != 2 {
		t.Errorf("%+v", d)
	}
	for trial, loss := range []float64{9, 1, 2} { // too few to compare with
		if d := report(uint32(trial), 2, loss); d.Verdict != sdk.Continue || d.Until < 1000 {
			t.Errorf("%+v", d)
		}
	}
	if d := report(3, 2, 3); d.Verdict != sdk.Stop ||
		d.Reason != "its loss 3 at iteration 2 is worse than 2, the median of 3 others" {
		t.Errorf("%+v", d)
	}
	if d := report(4, 2, 2.5); d.Verdict != sdk.Continue {
		t.Errorf("%+v", d)
	}
	if d := report(5, 2, math.Inf(1)); d.Verdict != sdk.Stop {
		t.Errorf("%+v", d)
	}
}

const rosenbrock = `{"lr": 0.0002, "momentum": 0.9}`

// losses trains a whole trial and returns its losses.
func (d *driver) losses(run uint64) (losses []float64) {
	d.t.Helper()
	for {
		switch e := d.next(); e.Kind {
		case train.Result:
			losses = append(losses, metric(e, "loss"))
			if !e.Done {
				d.continues(e.Run)
			}
		case train.Ended:
			if e.Error != "" || e.Run != run {
				d.t.Fatalf("%+v", e)
			}
			return losses
		}
	}
}

func metric(e train.Event, name string) float64 {
	for _, m := range e.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	return nan
}

func TestDescent(t *testing.T) {
	d := newDriver(t, config(t, sdk.KindTrainable, "samples/descent.py"), `{"epochs": 9}`)
	if traits := d.trainer.Traits(); traits.Saves || traits.Requests {
		t.Errorf("%+v", traits)
	}
	var all [][]float64
	for run, seed := range []uint64{1, 1, 1 << 63} {
		d.start(uint64(run), rosenbrock, sdk.Trial{Seed: seed})
		all = append(all, d.losses(uint64(run)))
	}
	if len(all[0]) != 9 || !slices.Equal(all[0], all[1]) || slices.Equal(all[0], all[2]) {
		t.Error(all)
	}
	d.start(7, `{"lr": 100.0, "momentum": 0.9}`, sdk.Trial{})
	if last := d.losses(7)[8]; !math.IsNaN(last) && !math.IsInf(last, 0) {
		t.Errorf("with a learning rate of 100 the loss is %v", last)
	}
}

// A paused trial continues in another process as if it had not been paused (B-055).
func TestDescentResumable(t *testing.T) {
	c := config(t, sdk.KindTrainable, "samples/descent_resumable.py")
	d := newDriver(t, c, "")
	if !d.trainer.Traits().Saves {
		t.Fatal("it says that it cannot save")
	}
	d.start(1, rosenbrock, sdk.Trial{Seed: 5})
	whole := d.losses(1)
	if len(whole) != 27 {
		t.Fatal(whole)
	}
	d.start(2, rosenbrock, sdk.Trial{Seed: 5, CheckpointEvery: 4})
	var parts []float64
	for range 4 {
		parts = append(parts, metric(d.want(train.Result, ""), "loss"))
		if len(parts) < 4 {
			d.continues(2)
		}
	}
	dir := t.TempDir()
	d.send(train.Command{Kind: train.Save, Run: 2, Dir: dir})
	if e := d.want(train.Saved, "iteration 4"); e.Checkpoint != dir {
		t.Fatalf("%+v", e)
	}
	d.send(train.Command{Kind: train.Stop, Run: 2})
	d.want(train.Ended, "")
	other := newDriver(t, c, "")
	other.start(3, rosenbrock, sdk.Trial{Seed: 5, Restore: dir, Iteration: 4})
	if parts = append(parts, other.losses(3)...); !slices.Equal(parts, whole) {
		t.Errorf("got  %v\nwant %v", parts, whole)
	}
	other.start(4, rosenbrock, sdk.Trial{Seed: 5, Restore: t.TempDir(), Iteration: 4})
	if e := other.want(train.Ended, "cannot read the state"); !e.RestoreFailed {
		t.Errorf("%+v", e)
	}
}

func TestOptionsSchema(t *testing.T) {
	info, err := start(t, config(t, sdk.KindSearcher, "samples/climber.py")).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]map[string]any
	}
	if err := json.Unmarshal(info.Options, &schema); err != nil {
		t.Fatal(err)
	}
	if step := schema.Properties["step"]; step["type"] != "number" || step["default"] != 0.1 {
		t.Error(step)
	}
}

// Hundreds of trials that end immediately, in forks and in separate processes (B-110).
func TestCrowd(t *testing.T) {
	for _, name := range []string{"descent.py", "descent_resumable.py"} {
		t.Run(name, func(t *testing.T) {
			c := config(t, sdk.KindTrainable, "samples/"+name)
			hosttest.Crowd(t, c.Args[0], append(c.Env, "PATH="+filepath.Dir(c.Path)+":"+os.Getenv("PATH"))...)
		})
	}
}

// Constraints that no point satisfies are no failure of the plugin: the host does not ask again.
func TestTooTight(t *testing.T) {
	t.Parallel()
	p := start(t, config(t, sdk.KindSearcher, "samples/climber.py"))
	s := openSearcher(t, p, &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1}},
		Constraints: []*space.Expr{{Op: space.Const}}}, "", nil)
	if _, err := s.Suggest(t.Context(), []sdk.Request{{Seed: 1}}); !errors.Is(err, space.ErrTight) {
		t.Error(err)
	}
}
