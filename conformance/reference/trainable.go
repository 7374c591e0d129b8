package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Trainable descends a quadratic function, in steps that depend on the trial's seed.
var Trainable = sdk.TrainablePlugin{
	Info: sdk.Info{
		Kind: sdk.KindTrainable, Name: "reference", Version: "1.0.0",
		Summary: "Descends a quadratic function, as an example of a trainable.",
		Options: trainableOptions.Schema(),
	},
	Open: openTrainable,
}

type trainable struct{ Steps uint64 }

var trainableOptions = option.Declare(func(t *trainable) []option.Option {
	return []option.Option{
		option.Int("steps", &t.Steps, 12, option.From(1), "The number of results of a trial."),
	}
})

func openTrainable(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	t, err := trainableOptions.Read(options)
	if err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	return t, sdk.TrainableTraits{Reusable: true, Shared: true, Saves: true}, nil
}

// walk is the state of a trial, and its checkpoint.
type walk struct {
	Step uint64
	At   float64
}

// Train starts from the beginning, or from a checkpoint.
func (t trainable) Train(ctx context.Context, run sdk.Run) error {
	trial := run.Trial()
	w := walk{At: 1}
	if trial.Restore != "" {
		if err := w.load(trial.Restore); err != nil {
			return &sdk.RestoreError{Err: err}
		}
	}
	for w.Step < t.Steps && ctx.Err() == nil {
		w.Step++
		w.At *= 0.5 + 0.4*math.Abs(math.Sin(float64(trial.Seed+w.Step)))
		result := sdk.Result{Iteration: w.Step, Metrics: []sdk.Metric{{Name: "loss", Value: w.At}},
			Done: w.Step == t.Steps}
		if err := run.Report(result, w.save); err != nil {
			return err
		}
	}
	return nil
}

const checkpoint = "walk.json"

func (w *walk) save(dir string) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, checkpoint), text, 0o600)
}

func (w *walk) load(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, checkpoint))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, w)
}

// Request requests one CPU for each worker.
func (trainable) Request(params []byte) ([]byte, error) {
	p := struct {
		Workers int `json:"workers"`
	}{1}
	if err := json.Unmarshal(params, &p); err != nil || p.Workers < 1 {
		return nil, fmt.Errorf("workers: want a number from 1 on (%v)", err)
	}
	return fmt.Appendf(nil, `{"cpu": %d}`, p.Workers), nil
}
