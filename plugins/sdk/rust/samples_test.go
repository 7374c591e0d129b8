package rust_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A carrier runs one sample as a program or as a module.
type carrier interface {
	describe(t *testing.T) sdk.Info
	searcher(t testing.TB, p sdk.Problem, options string) (sdk.Searcher, error)
	scheduler(t *testing.T, p sdk.Problem, options string) (sdk.Scheduler, error)
	// train trains until the end, or until the result at which a checkpoint is made and the trial
	// paused (0: never). It continues from state, if that is not nil.
	train(t *testing.T, options string, trial sdk.Trial, pauseAt int, state []byte) (losses []float64, saved []byte,
		failed string)
}

// both runs a test on a sample as a program and as a module.
func both(t *testing.T, kind sdk.Kind, name string, f func(t *testing.T, c carrier)) {
	t.Run("process", func(t *testing.T) { f(t, &program{kind, sample(t, name)}) })
	t.Run("wasm", func(t *testing.T) { f(t, &module{guest(t, "rust-guests", name)}) })
}

func TestDescriptions(t *testing.T) {
	for sample, want := range map[string]struct {
		kind sdk.Kind
		name string
	}{
		"searcher": {sdk.KindSearcher, "climber"}, "scheduler": {sdk.KindScheduler, "halfway"},
		"trainable": {sdk.KindTrainable, "descent"}, "resumable": {sdk.KindTrainable, "descent-resumable"},
	} {
		t.Run(sample, func(t *testing.T) {
			both(t, want.kind, sample, func(t *testing.T, c carrier) {
				info := c.describe(t)
				if info.Kind != want.kind || info.Name != want.name {
					t.Errorf("%+v", info)
				}
				if err := conformance.CheckInfo(info, want.kind); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func problem(s *space.Space) sdk.Problem {
	return sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: 1}
}

// climb runs n trials; the loss is the distance of the first parameter from the upper end.
func climb(t *testing.T, c carrier, s *space.Space, options string, n int) (points []space.Point, status sdk.Status) {
	t.Helper()
	climber, err := c.searcher(t, problem(s), options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(n) {
		answer, err := climber.Suggest(t.Context(), []sdk.Request{{Trial: i, Seed: uint64(i) + 100}})
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Points) == 0 {
			return points, answer.Status
		}
		p := answer.Points[0]
		if err := s.Check(p); err != nil || !s.Holds(p) {
			t.Fatalf("%v is no point of the space: %v", p, err)
		}
		points = append(points, p)
		number := 3 * uint64(i)
		err = climber.Observe(t.Context(), []sdk.Event{
			{Number: number + 1, Kind: sdk.TrialAdded, Trial: i, Point: p},
			{Number: number + 2, Kind: sdk.ResultReported, Trial: i, Iteration: 1,
				Losses: []float64{1 - s.ToUnit(0, p[0])}},
			{Number: number + 3, Kind: sdk.TrialCompleted, Trial: i},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return points, sdk.Ready
}

func TestClimberClimbs(t *testing.T) {
	answers := map[string][]string{} // by carrier
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, c carrier) {
		for name, s := range map[string]*space.Space{"wide": spaces["wide"], "odd": spaces["odd"]} {
			points, _ := climb(t, c, s, `{"step": 0.05}`, 60)
			again, _ := climb(t, c, s, `{"step": 0.05}`, 60)
			if fmt.Sprint(points) != fmt.Sprint(again) {
				t.Error("the same requests were answered in another way")
			}
			answers[name] = append(answers[name], fmt.Sprint(points))
			best := func(points []space.Point) (u float64) {
				for _, p := range points {
					u = math.Max(u, s.ToUnit(0, p[0]))
				}
				return u
			}
			if first, all := best(points[:10]), best(points); all < 0.95 || all < first {
				t.Errorf("%s: it climbed from %g to %g", name, first, all)
			}
		}
	})
	for name, as := range answers {
		if len(as) == 2 && as[0] != as[1] {
			t.Errorf("%s: the program and the module suggest different points", name)
		}
	}
}

func TestClimberExhaustsFiniteSpaces(t *testing.T) {
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, c carrier) {
		for _, name := range []string{"small", "tight"} {
			s := spaces[name]
			size, _ := s.Size(1000)
			points, status := climb(t, c, s, `{"start": 3}`, size+1)
			keys := map[string]bool{}
			for _, p := range points {
				keys[s.Key(p)] = true
			}
			if status != sdk.Exhausted || len(points) != size || len(keys) != size {
				t.Errorf("%s: %d points, %d different, of %d; status %v", name, len(points), len(keys), size, status)
			}
		}
	})
}

func TestClimberTakesGivenCoordinates(t *testing.T) {
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, c carrier) {
		s := spaces["small"]
		climber, err := c.searcher(t, problem(s), "")
		if err != nil {
			t.Fatal(err)
		}
		given := space.Point{2, math.NaN(), math.NaN()}
		answer, err := climber.Suggest(t.Context(),
			[]sdk.Request{{Seed: 3, Given: given}, {Trial: 1, Seed: 4, Given: given}})
		if err != nil || len(answer.Points) != 2 || answer.Points[0][0] != 2 || answer.Points[1][0] != 2 {
			t.Fatalf("%+v, %v", answer, err)
		}
	})
}

func TestWrongOptionsAreRefused(t *testing.T) {
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, c carrier) {
		for options, says := range map[string]string{
			`{"step": "far"}`: `option "step" is a string; expected a number`,
			`{"steps": 1}`:    `option "steps" is unknown`,
			`[`:               "options: not JSON",
		} {
			_, err := c.searcher(t, problem(spaces["small"]), options)
			wantError(t, err, says)
		}
	})
}

func TestHalfwayStopsTheWorse(t *testing.T) {
	both(t, sdk.KindScheduler, "scheduler", func(t *testing.T, c carrier) {
		s, err := c.scheduler(t, problem(spaces["wide"]), `{"at": 3}`)
		if err != nil {
			t.Fatal(err)
		}
		number := uint64(0)
		decide := func(trial uint32, iteration uint64, loss float64) sdk.Decision {
			t.Helper()
			number++
			answer, err := s.Decide(t.Context(), []sdk.Event{{
				Number: number, Kind: sdk.ResultReported, Trial: trial, Iteration: iteration, Losses: []float64{loss},
			}})
			if err != nil || len(answer.Decisions) != 1 || answer.Decisions[0].Event != number {
				t.Fatalf("%+v, %v", answer, err)
			}
			return answer.Decisions[0]
		}
		if d := decide(0, 1, 9); d.Verdict != sdk.Continue || d.Until != 3 {
			t.Errorf("at first: %+v", d)
		}
		for trial, loss := range []float64{1, 2, 3, 2} {
			if d := decide(uint32(trial), 3, loss); d.Verdict != sdk.Continue || d.Until <= 3 {
				t.Errorf("trial %d: %+v", trial, d)
			}
		}
		if d := decide(4, 3, 2.5); d.Verdict != sdk.Stop || d.Reason == "" {
			t.Errorf("the worse one: %+v", d)
		}
	})
}

// trial returns a trial with a learning rate.
func trial(lr float64) sdk.Trial {
	params, _ := json.Marshal(map[string]float64{"lr": lr, "momentum": 0.5})
	return sdk.Trial{ID: "t", Params: params, Seed: 7}
}

func TestDescentDescends(t *testing.T) {
	for _, name := range []string{"trainable", "resumable"} {
		kept := [][]float64{}
		both(t, sdk.KindTrainable, name, func(t *testing.T, c carrier) {
			losses, _, failed := c.train(t, "", trial(1e-3), 0, nil)
			if failed != "" || len(losses) != 27 || losses[26] >= losses[0] {
				t.Errorf("%v, %s", losses, failed)
			}
			if short, _, _ := c.train(t, `{"epochs": 4}`, trial(1e-3), 0, nil); !slices.Equal(short, losses[:4]) {
				t.Errorf("4 epochs: %v", short)
			}
			kept = append(kept, losses)
		})
		if len(kept) == 2 && !slices.Equal(kept[0], kept[1]) {
			t.Error("the program and the module have different losses")
		}
	}
}

func TestParametersAreWanted(t *testing.T) {
	both(t, sdk.KindTrainable, "trainable", func(t *testing.T, c carrier) {
		bad := trial(0)
		bad.Params = []byte(`{"lr": "fast"}`)
		if _, _, failed := c.train(t, "", bad, 0, nil); failed != `"lr" is a string; expected a number` {
			t.Error(failed)
		}
	})
}

func TestDescentGoesOnAfterAPause(t *testing.T) {
	both(t, sdk.KindTrainable, "resumable", func(t *testing.T, c carrier) {
		whole, _, _ := c.train(t, "", trial(1e-3), 0, nil)
		first, state, failed := c.train(t, "", trial(1e-3), 10, nil)
		if failed != "" || len(first) != 10 || len(state) != 32 {
			t.Fatalf("%v, %d bytes, %s", first, len(state), failed)
		}
		later := trial(1e-3)
		later.Iteration = 10
		second, _, failed := c.train(t, "", later, 0, state)
		if failed != "" || !slices.Equal(append(first, second...), whole) {
			t.Errorf("%v then %v; without the pause %v (%s)", first, second, whole, failed)
		}
		if _, _, failed := c.train(t, "", later, 0, []byte("x")); failed != "restore: cannot restore the checkpoint: "+
			"the state has 1 bytes; expected 32" {
			t.Error(failed)
		}
	})
}

// Hundreds of trials that end immediately, in a program and in modules (B-110).
func TestCrowd(t *testing.T) {
	for _, path := range []string{sample(t, "trainable"), guest(t, "rust-guests", "trainable"),
		guest(t, "rust-guests", "resumable")} {
		t.Run(filepath.Base(path), func(t *testing.T) { hosttest.Crowd(t, path) })
	}
}

// Constraints that no point satisfies are no failure of the plugin: the host does not ask again.
func TestTooTight(t *testing.T) {
	both(t, sdk.KindSearcher, "searcher", func(t *testing.T, c carrier) {
		s, err := c.searcher(t, problem(&space.Space{Params: []space.Param{{Name: "x", Kind: space.Real, High: 1}},
			Constraints: []*space.Expr{{Op: space.Const}}}), "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Suggest(t.Context(), []sdk.Request{{Seed: 1}})
		if _, process := c.(*program); err == nil || process && !errors.Is(err, space.ErrTight) {
			t.Error(err) // a module's answers are tested without a host, by their text
		}
	})
}
