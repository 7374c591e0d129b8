// Command scaffold-name is a trainable for tunehost: a stand-in for training,
// which walks down a parabola. The parameter lr is its step.
//
// Everything here may be changed. What must stay true: each epoch is reported,
// and training ends when Report says so.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() { serve.Trainable(plugin) }

var plugin = sdk.TrainablePlugin{
	Info: sdk.Info{
		Kind:    sdk.KindTrainable,
		Name:    "scaffold-name",
		Version: "0.1.0",
		Summary: "Walks down a parabola.",
		// What users may write under options; tunehost checks it for you.
		Options: []byte(`{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "epochs": {
      "type": "integer", "minimum": 1, "default": 10,
      "description": "results of each trial"
    }
  }
}`),
	},
	Open: open,
}

type options struct {
	Epochs uint64 `json:"epochs"`
}

// open is called once for each process.
func open(text []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	o := options{Epochs: 10}
	if err := sdk.ReadOptions(text, &o); err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	train := func(ctx context.Context, run sdk.Run) error { return train(ctx, run, o) }
	return sdk.TrainFunc(train), sdk.TrainableTraits{Reusable: true, Shared: true, Saves: true}, nil
}

// model is all that a checkpoint must hold.
type model struct {
	Epoch uint64  `json:"epoch"`
	X     float64 `json:"x"`
}

const checkpoint = "model.json"

// train trains one trial, from its checkpoint if there is one.
func train(ctx context.Context, run sdk.Run, o options) error {
	trial := run.Trial()
	params := struct {
		LR float64 `json:"lr"`
	}{LR: 0.1}
	if err := json.Unmarshal(trial.Params, &params); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	m := model{X: 10}
	if trial.Restore != "" {
		if err := m.load(trial.Restore); err != nil {
			return &sdk.RestoreError{Err: err}
		}
	}
	for m.Epoch < o.Epochs {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.Epoch++
		m.X -= params.LR * 2 * m.X
		result := sdk.Result{Iteration: m.Epoch, Metrics: []sdk.Metric{{Name: "loss", Value: m.X * m.X}}, Done: m.Epoch == o.Epochs}
		if err := run.Report(result, m.save); err != nil {
			return err // it was told to stop
		}
	}
	return nil
}

func (m *model) save(dir string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, checkpoint), text, 0o600)
}

func (m *model) load(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, checkpoint))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, m)
}
