package samples_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func TestMain(m *testing.M) {
	if handled, exit := bundled.New().Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const samples = "github.com/tunehost/tunehost/plugins/sdk/samples/"

// both runs a test on a sample as a program and as a module; each start is a new process.
func both(t *testing.T, kind sdk.Kind, sample string, f func(t *testing.T, start func() *process.Process)) {
	t.Run("process", func(t *testing.T) {
		program := sandboxtest.BuildProgram(t, samples+sample)
		f(t, func() *process.Process {
			return sandboxtest.Run(t, process.Config{Program: process.Program{Kind: kind, Name: sample, Path: program}})
		})
	})
	t.Run("wasm", func(t *testing.T) {
		module := sandboxtest.Build(t, samples+sample)
		f(t, func() *process.Process {
			return sandboxtest.Start(t, sandbox.Config{Kind: kind, Name: sample, Path: module,
				Cache: sandboxtest.Cache(t)})
		})
	})
}

func raws(texts ...string) (out [][]byte) {
	for _, text := range texts {
		out = append(out, []byte(text))
	}
	return out
}

// mixed is parameters of every form, with a condition and a constraint.
func mixed() *space.Space {
	return &space.Space{
		Params: []space.Param{
			{Name: "lr", Kind: space.Real, Low: 1e-5, High: 1, Log: true},
			{Name: "dropout", Kind: space.Real, Low: 0, High: 0.5, Step: 0.1},
			{Name: "units", Kind: space.Int, Low: 16, High: 1024, Log: true},
			{Name: "noise", Kind: space.Normal, Mean: 1, SD: 2},
			{Name: "optimizer", Kind: space.Choice, Choices: raws(`"sgd"`, `"adam"`)},
			{Name: "size", Kind: space.Ordinal, Choices: raws("1", "2", "4")},
			{Name: "momentum", Kind: space.Real, Low: 0, High: 0.99,
				When: &space.Expr{Op: space.In, Param: 4, Set: []int{0}}},
		},
		Constraints: []*space.Expr{{Op: space.Le, Args: []*space.Expr{
			{Op: space.Mul, Args: []*space.Expr{{Op: space.Number, Param: 2}, {Op: space.Number, Param: 5}}},
			{Op: space.Const, Number: 2000},
		}}},
	}
}

func describes(t *testing.T, p plugin.Plugin, kind sdk.Kind, name string) {
	t.Helper()
	info, err := p.Describe(t.Context())
	if err != nil || info.Name != name || info.Kind != kind {
		t.Fatalf("%+v, %v", info, err)
	}
	if err := conformance.CheckInfo(info, kind); err != nil {
		t.Error(err)
	}
}

// climb runs trials; the loss is the distance of lr from 1 on its logarithmic scale.
func climb(t *testing.T, s *space.Space, c plugin.Searcher, n int) (points []space.Point) {
	t.Helper()
	number := uint64(0)
	for i := range uint32(n) {
		answer, err := c.Suggest(t.Context(), []sdk.Request{{Trial: i, Seed: uint64(i) + 100}})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Points) == 0 {
			if answer.Status != sdk.Exhausted {
				t.Fatalf("%+v", answer)
			}
			return points
		}
		p := answer.Points[0]
		if err := s.Check(p); err != nil || !s.Holds(p) {
			t.Fatalf("%v is no point of the space: %v", p, err)
		}
		points = append(points, p)
		events := []sdk.Event{
			{Number: number + 1, Kind: sdk.TrialAdded, Trial: i, Point: p},
			{Number: number + 2, Kind: sdk.ResultReported, Trial: i, Iteration: 1,
				Losses: []float64{1 - s.ToUnit(0, p[0])}},
			{Number: number + 3, Kind: sdk.TrialCompleted, Trial: i},
		}
		number += 3
		if err := c.Observe(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	return points
}

func openSearcher(t *testing.T, p plugin.Plugin, s *space.Space, options string) plugin.Searcher {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	c, err := p.OpenSearcher(t.Context(), sdk.Problem{Space: s,
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}}, []byte(options), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The climber comes near the best, takes no point of a finite space twice, and gives the same
// answers in a process and in a module.
func TestSearcher(t *testing.T) {
	var climbed [][][]uint64
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, start func() *process.Process) {
		p := start()
		describes(t, p, sdk.KindSearcher, "climber")
		points := climb(t, mixed(), openSearcher(t, p, mixed(), `{"start": 5}`), 60)
		if last := points[len(points)-1]; last[0] < 0.1 {
			t.Errorf("after 60 trials it is at %v", last)
		}
		climbed = append(climbed, bits(points))

		finite := &space.Space{Params: []space.Param{
			{Name: "a", Kind: space.Int, Low: 1, High: 4}, {Name: "b", Kind: space.Choice,
				Choices: raws("1", "2", "3")}}}
		points = climb(t, finite, openSearcher(t, start(), finite, `{"start": 3}`), 100)
		slices.SortFunc(points, func(a, b space.Point) int { return slices.Compare(a, b) })
		if len(slices.CompactFunc(points, slices.Equal)) != 12 {
			t.Errorf("%d points of 12: %v", len(points), points)
		}
		_, err := start().OpenSearcher(t.Context(), sdk.Problem{Space: finite}, []byte(`{"stepp": 1}`), nil)
		if plugin.FailureOf(err) != plugin.Refused ||
			!strings.Contains(err.Error(), `unknown option "stepp"; known: start, step`) {
			t.Error(err)
		}
	})
	agree(t, climbed)
}

// agree compares the answers of the process and the module.
func agree[T any](t *testing.T, did []T) {
	t.Helper()
	if len(did) != 2 {
		return // one of them has failed
	}
	if d := cmp.Diff(did[0], did[1]); d != "" {
		t.Errorf("process (-) and module (+) differ:\n%s", d)
	}
}

// bits makes NaN comparable, and 0 and -0 different.
func bits(points []space.Point) (out [][]uint64) {
	for _, p := range points {
		var b []uint64
		for _, x := range p {
			b = append(b, math.Float64bits(x))
		}
		out = append(out, b)
	}
	return out
}

func TestScheduler(t *testing.T) {
	both(t, sdk.KindScheduler, "scheduler", func(t *testing.T, start func() *process.Process) {
		p := start()
		describes(t, p, sdk.KindScheduler, "halfway")
		s, err := p.OpenScheduler(t.Context(), sdk.Problem{Space: mixed()}, []byte(`{"at": 3}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		var events []sdk.Event
		for i, loss := range []float64{0.1, 0.2, 0.3, 0.25, 0.15} {
			for _, iteration := range []uint64{1, 3, 4} {
				events = append(events, sdk.Event{Number: uint64(len(events) + 1), Kind: sdk.ResultReported,
					Trial:     uint32(i),
					Iteration: iteration, Losses: []float64{loss}})
			}
		}
		got, err := s.Decide(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, d := range got.Decisions {
			fmt.Fprintf(&text, "%d:%d/%d ", d.Event, d.Verdict, min(d.Until, 99))
			if d.Verdict == sdk.Stop && d.Reason != "its loss 0.25 at iteration 3 is worse than 0.2, the median of 3 "+
				"others" {
				t.Error(d.Reason)
			}
		}
		// Only the fourth trial is worse than the median of three others at iteration 3.
		want := "1:0/3 2:0/99 3:0/99 4:0/3 5:0/99 6:0/99 7:0/3 8:0/99 9:0/99 10:0/3 11:2/0 12:0/99 13:0/3 14:0/99 " +
			"15:0/99 "
		if text.String() != want {
			t.Errorf("%s\nwant %s", text.String(), want)
		}
	})
}

// run trains one attempt, saving and pausing after stopAt (0: never), and returns its losses as
// bits.
func run(t *testing.T, d plugin.Trainer, number uint64, trial sdk.Trial, stopAt uint64, dir string) (losses []uint64) {
	t.Helper()
	trial.Params = []byte(`{"lr": 0.0001, "momentum": 0.5}`)
	send := func(c train.Command) {
		c.Run = number
		if err := d.Send([]train.Command{c}); err != nil {
			t.Fatal(err)
		}
	}
	send(train.Command{Kind: train.Start, Trial: &trial})
	for {
		events, err := d.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case train.Result:
				losses = append(losses, math.Float64bits(e.Metrics[0].Value))
				if uint64(len(losses)) == stopAt {
					send(train.Command{Kind: train.Stop, Dir: dir})
				} else {
					send(train.Command{Kind: train.Continue, Credits: 1})
				}
			case train.Saved:
				if e.Error != "" || e.Iteration != stopAt {
					t.Fatalf("%+v", e)
				}
			case train.Ended:
				if e.Error != "" {
					t.Fatal(e.Error)
				}
				return losses
			}
		}
	}
}

func openTrainable(t *testing.T, p plugin.Plugin, options string) plugin.Trainer {
	t.Helper()
	d, err := p.OpenTrainable(t.Context(), []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTrainable(t *testing.T) {
	var all [][]uint64
	both(t, sdk.KindTrainable, "trainable", func(t *testing.T, start func() *process.Process) {
		p := start()
		describes(t, p, sdk.KindTrainable, "descent")
		losses := run(t, openTrainable(t, p, `{}`), 1, sdk.Trial{Seed: 7}, 0, "")
		if first, last := math.Float64frombits(losses[0]),
			math.Float64frombits(losses[len(losses)-1]); len(losses) != 27 || last >= first {
			t.Errorf("%d losses from %g to %g", len(losses), first, last)
		}
		all = append(all, losses)
	})
	agree(t, all)
}

// A trial that is paused and continues in another process reports the same losses as without a
// pause; so does a trial that a process has saved and a module continues.
func TestResumable(t *testing.T) {
	saved := map[string]string{}
	var whole [][]uint64
	both(t, sdk.KindTrainable, "resumable", func(t *testing.T, start func() *process.Process) {
		p := start()
		describes(t, p, sdk.KindTrainable, "descent-resumable")
		d := openTrainable(t, p, `{"epochs": 20}`)
		if !d.Traits().Saves || !d.Traits().Reusable {
			t.Errorf("%+v", d.Traits())
		}
		all := run(t, d, 1, sdk.Trial{Seed: 7}, 0, "")
		dir, err := os.MkdirTemp("", "checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		saved[t.Name()] = dir
		whole = append(whole, all)
		if first := run(t, d, 2, sdk.Trial{Seed: 7}, 8, dir); !slices.Equal(first, all[:8]) {
			t.Errorf("%v, want the beginning of %v", first, all)
		}
		for _, from := range saved {
			rest := run(t, openTrainable(t, start(), `{"epochs": 20}`), 1,
				sdk.Trial{Seed: 7, Restore: from, Iteration: 8}, 0, "")
			if !slices.Equal(rest, all[8:]) {
				t.Errorf("restored: %v, want the end of %v", rest, all)
			}
		}
		// A checkpoint that cannot be used.
		bad := t.TempDir()
		if err := os.WriteFile(bad+"/"+sdk.StateFile, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		cannotRestore(t, openTrainable(t, start(), `{}`), bad,
			"cannot restore the checkpoint: 1 bytes are not a state of this trainable")
		cannotRestore(t, openTrainable(t, start(), `{}`), t.TempDir(), "state")
	})
	agree(t, whole)
	for _, dir := range saved {
		_ = os.RemoveAll(dir)
	}
}

// B-057
func cannotRestore(t *testing.T, d plugin.Trainer, dir, says string) {
	t.Helper()
	params, _ := json.Marshal(map[string]float64{"lr": 0, "momentum": 0})
	if err := d.Send([]train.Command{{Kind: train.Start, Run: 1,
		Trial: &sdk.Trial{Params: params, Restore: dir, Iteration: 8}}}); err != nil {
		t.Fatal(err)
	}
	for {
		events, err := d.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == train.Ended {
				if !e.RestoreFailed || !strings.Contains(e.Error, says) {
					t.Errorf("%+v", e)
				}
				return
			}
		}
	}
}

// A module does not contain the code that processes need for gRPC, which would add 13 MB and 20
// seconds of compilation.
func TestModulesAreSmall(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", samples+"resumable")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		switch {
		case strings.HasPrefix(pkg, "google.golang.org/grpc"), strings.HasPrefix(pkg, "github.com/hashicorp/"),
			pkg == "net", pkg == "crypto/tls":
			t.Errorf("a module has %s in it", pkg)
		}
	}
}

// Hundreds of trials that end immediately (B-110).
func TestCrowd(t *testing.T) {
	for _, name := range []string{"trainable", "resumable"} {
		t.Run(name, func(t *testing.T) { hosttest.Crowd(t, sandboxtest.BuildProgram(t, samples+name)) })
	}
}

// TestConformance runs the suite on all samples, as programs and as modules.
func TestConformance(t *testing.T) {
	for sample, kind := range map[string]sdk.Kind{
		"searcher": sdk.KindSearcher, "scheduler": sdk.KindScheduler,
		"trainable": sdk.KindTrainable, "resumable": sdk.KindTrainable,
	} {
		program := process.Config{Program: process.Program{Kind: kind, Name: sample,
			Path: sandboxtest.BuildProgram(t, samples+sample)}}
		conforms(t, sample, program)
		path := sandboxtest.Build(t, samples+sample)
		module := sandboxtest.Process(t, sandbox.Config{Kind: kind, Name: sample, Path: path,
			Cache: sandboxtest.Cache(t)})
		conforms(t, sample+".wasm", module)
	}
}

func conforms(t *testing.T, name string, c process.Config) {
	c.Log = nil // it outlives the test that owns the log
	o := conformance.Options{Short: true, Params: []byte(`{"lr": 0.001, "momentum": 0.5}`)}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		conformance.RunAll(t, c.Kind, conformance.Process(c), o)
	})
}
