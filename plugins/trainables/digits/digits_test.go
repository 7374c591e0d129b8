package digits

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

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/sdktest"
)

func newRun(t testing.TB, params string) (*sdktest.Run, sdk.Trainable) {
	t.Helper()
	trainable, traits := sdktest.Open(t, Plugin, `{}`)
	return sdktest.NewRun(t, traits, params), trainable
}

func train(t testing.TB, params string) *sdktest.Run {
	t.Helper()
	run, trainable := newRun(t, params)
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestLearns(t *testing.T) {
	for _, params := range []string{
		`{"epochs": 5}`,
		`{"epochs": 5, "optimizer": "adam", "lr": 0.005, "layers": 2, "units": 64}`,
		`{"epochs": 8, "activation": "tanh", "lr": 0.05, "layers": 3, "dropout": 0.05, "weight_decay": 1e-5}`,
	} {
		run := train(t, params)
		if got := run.Last("accuracy"); got <= 0.95 {
			t.Errorf("%s: accuracy = %v, want above 0.95", params, got)
		}
		if got := run.Last("loss"); !(got > 0 && got < 0.3) {
			t.Errorf("%s: loss = %v, want below 0.3", params, got)
		}
		if losses := run.Metric("train_loss"); losses[len(losses)-1] > losses[0]/3 {
			t.Errorf("%s: train_loss = %v, want it to fall", params, losses)
		}
	}
}

func TestLearnsNothingWithATinyRate(t *testing.T) {
	run := train(t, `{"epochs": 3, "lr": 1e-9, "momentum": 0}`)
	if got := run.Last("accuracy"); got > 0.25 {
		t.Errorf("accuracy = %v, want about 0.1", got)
	}
	if got := run.Last("loss"); got < 2 {
		t.Errorf("loss = %v, want about ln 10 or worse", got)
	}
}

// B-015
func TestDivergenceIsReportedAsNaN(t *testing.T) {
	run := train(t, `{"epochs": 4, "lr": 1, "weight_decay": 1e3}`)
	for _, name := range []string{"accuracy", "loss", "train_loss"} {
		if got := run.Last(name); !math.IsNaN(got) {
			t.Errorf("%s = %v, want NaN", name, got)
		}
	}
	if got := len(run.Results()); got != 4 {
		t.Errorf("%d results, want one for each of 4 epochs", got)
	}
}

// B-050: an interrupted run is bit by bit identical to an uninterrupted one.
func TestGoesOnWhereItWasSaved(t *testing.T) {
	for _, params := range []string{
		`{"epochs": 7, "dropout": 0.2, "batch": 50, "weight_decay": 1e-4}`,
		`{"epochs": 7, "optimizer": "adam", "layers": 2, "activation": "tanh"}`,
	} {
		whole := train(t, params)
		first, trainable := newRun(t, params)
		first.SaveEvery, first.StopAt = 3, 5
		if err := first.Train(t.Context(), trainable); err != nil {
			t.Fatal(err)
		}
		second := first.Resume(first.Checkpoints()[0])
		if err := second.Train(t.Context(), trainable); err != nil {
			t.Fatal(err)
		}
		got := append(first.Results()[:3], second.Results()...)
		if diff := cmp.Diff(bits(whole.Results()), bits(got)); diff != "" {
			t.Errorf("%s: uninterrupted (-) and resumed (+) differ:\n%s", params, diff)
		}
	}
}

// bits formats results so that they are equal only if all bits are.
func bits(results []sdk.Result) []string {
	var lines []string
	for _, r := range results {
		line := fmt.Sprint(r.Iteration)
		for _, m := range r.Metrics {
			line += fmt.Sprintf(" %s=%x", m.Name, m.Value)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestSeedDecidesEverything(t *testing.T) {
	one, again := train(t, `{"epochs": 2}`), train(t, `{"epochs": 2}`)
	if diff := cmp.Diff(bits(one.Results()), bits(again.Results())); diff != "" {
		t.Errorf("the same seed gave different results:\n%s", diff)
	}
	run, trainable := newRun(t, `{"epochs": 2}`)
	run.T.Seed = 2
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(bits(one.Results()), bits(run.Results())) {
		t.Error("another seed gave the same results")
	}
}

// B-057
func TestRestoreFails(t *testing.T) {
	saved, trainable := newRun(t, `{"units": 8}`)
	saved.SaveEvery, saved.StopAt = 1, 1
	if err := saved.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	good := saved.Checkpoints()[0]
	torn := sdktest.Checkpoint{Iteration: 1, Dir: t.TempDir()}
	whole, err := os.ReadFile(filepath.Join(good.Dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(torn.Dir, checkpointFile), whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		from   sdktest.Checkpoint
		params string
		want   string
	}{
		"missing":      {sdktest.Checkpoint{Iteration: 1, Dir: t.TempDir()}, `{"units": 8}`, "no such file"},
		"torn":         {torn, `{"units": 8}`, "unexpected EOF"},
		"other layers": {good, `{"units": 9}`, "layers and units ask for [64 9 10]"},
	} {
		run := saved.Resume(tc.from)
		run.T.Params = []byte(tc.params)
		err := run.Train(t.Context(), trainable)
		var failed *sdk.RestoreError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want RestoreError with %q", name, err, tc.want)
		}
	}
}

func TestOtherOptimizerGoesOnFromTheWeights(t *testing.T) {
	saved, trainable := newRun(t, `{"epochs": 5}`)
	saved.SaveEvery = 5
	if err := saved.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	run := saved.Resume(saved.Checkpoints()[0])
	run.T.Params = []byte(`{"epochs": 6, "optimizer": "adam"}`)
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	if got := run.Last("accuracy"); got < 0.93 || len(run.Results()) != 1 {
		t.Errorf("accuracy = %v after %d epochs, want it to continue from what was learnt", got, len(run.Results()))
	}
}

func TestCancelledContextStops(t *testing.T) {
	run, trainable := newRun(t, `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	run.OnReport = func(r sdk.Result) error {
		if r.Iteration == 2 {
			cancel()
		}
		return nil
	}
	if err := trainable.Train(ctx, run); !errors.Is(err, sdk.ErrStopped) {
		t.Errorf("error = %v, want ErrStopped", err)
	}
	if got := len(run.Results()); got != 2 {
		t.Errorf("%d results after it was cancelled at the second", got)
	}
}

func TestRefusesParameters(t *testing.T) {
	for params, want := range map[string]string{
		`{"unitz": 3, "lr": 1}`: `unknown parameter "unitz"; known: lr, momentum, weight_decay, dropout, layers, `,
		`{"lr": 0}`:             `parameter "lr" is 0; allowed: a number above 0`,
		`{"lr": "fast"}`:        `parameter "lr" is "fast"`,
		`{"lr": null}`:          `parameter "lr" is null`,
		`{"momentum": 1}`:       `allowed: a number from 0 and below 1`,
		`{"units": 2.5}`:        `parameter "units" is 2.5; allowed: a whole number from 1 to 1024`,
		`{"layers": 4}`:         `allowed: a whole number from 1 to 3`,
		`{"optimizer": "rms"}`:  `allowed: sgd or adam`,
		`[1]`:                   `the parameters are [1]; allowed: a map`,
	} {
		run, trainable := newRun(t, params)
		err := run.Train(t.Context(), trainable)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", params, err, want)
		}
	}
}

func TestRefusesOptions(t *testing.T) {
	for options, want := range map[string]string{
		`{"validation": 1}`: `option "validation" is 1; allowed: a number from 0.05 to 0.95`,
		`{"splitseed": 1}`:  "splitseed",
		`7`:                 "options",
	} {
		if _, _, err := Plugin.Open([]byte(options)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", options, err, want)
		}
	}
}

// BenchmarkEpoch determines the speed of the quickstart.
func BenchmarkEpoch(b *testing.B) {
	for _, params := range []string{
		`{"units": 8}`, `{"units": 32}`, `{"units": 64}`, `{"units": 128, "layers": 3}`,
		`{"units": 64, "optimizer": "adam"}`,
	} {
		b.Run(params, func(b *testing.B) {
			tr, _, err := open([]byte(`{}`))
			if err != nil {
				b.Fatal(err)
			}
			p, err := parseParams([]byte(params))
			if err != nil {
				b.Fatal(err)
			}
			t := newTraining(tr.(*trainable), p, 1)
			for b.Loop() {
				t.next()
			}
		})
	}
}

// B-060: the exported network gives the same answers as the trained one; another format is unknown.
func TestExport(t *testing.T) {
	run, trainable := newRun(t, `{"epochs": 2, "activation": "relu"}`)
	run.T.Export = []string{"json", "onnx"}
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	made := run.Exports()
	if len(made) != 2 || made[0].Err != nil || !errors.Is(made[1].Err, sdk.ErrUnknownFormat) {
		t.Fatalf("%+v", made)
	}
	text, err := os.ReadFile(filepath.Join(made[0].Dir, exportFile))
	if err != nil {
		t.Fatal(err)
	}
	var m model
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	held := trainableOf(t).validation
	right := 0
	for i, label := range held.Labels {
		if m.reads(row(held.X, i)) == label {
			right++
		}
	}
	if got, want := float64(right)/float64(held.len()), run.Last("accuracy"); got != want {
		t.Errorf("the exported network reads %v of the images rightly, not %v", got, want)
	}
}

func trainableOf(t *testing.T) *trainable {
	t.Helper()
	opened, _, err := open([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*trainable)
}

// reads evaluates the model as another program would.
func (m *model) reads(x []float64) int {
	for i, l := range m.Layers {
		out := append([]float64{}, l.Biases...)
		for j, weights := range l.Weights {
			for k, w := range weights {
				out[k] += w * x[j]
			}
		}
		if i < len(m.Layers)-1 {
			for k := range out {
				out[k] = max(out[k], 0)
			}
		}
		x = out
	}
	return largest(x)
}
