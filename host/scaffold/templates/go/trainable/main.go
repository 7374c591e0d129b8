// Command scaffold-name is a trainable for tunehost. Instead of training, it walks down a parabola.
// The parameter lr is its step.
//
// You may change everything here, but two things must stay true: each epoch is reported, and training
// ends when ReportState says so.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() { serve.Trainable(plugin) }

var plugin = sdk.TrainablePlugin{
	Info: sdk.Info{
		Kind:    sdk.KindTrainable,
		Name:    "scaffold-name",
		Version: "0.1.0",
		Summary: "Walks down a parabola.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Epochs uint64
}

// declared are the options: tunehost checks what users write, and shows them in `tunehost plugins
// describe`.
var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("epochs", &o.Epochs, 10, option.From(1), "How many results each trial has."),
	}
})

// open is called once for each process.
func open(text []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	train := func(ctx context.Context, run sdk.Run) error { return train(ctx, run, o) }
	return sdk.TrainFunc(train), sdk.TrainableTraits{Reusable: true, Shared: true, Saves: true}, nil
}

// model is all that a checkpoint must contain.
type model struct {
	Epoch uint64  `json:"epoch"`
	X     float64 `json:"x"`
}

// train trains one trial, from its checkpoint if there is one.
func train(ctx context.Context, run sdk.Run, o options) error {
	params := struct {
		LR float64 `json:"lr"`
	}{LR: 0.1}
	if err := json.Unmarshal(run.Trial().Params, &params); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	m, err := begin(run)
	if err != nil {
		return err
	}
	for m.Epoch < o.Epochs {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.Epoch++
		m.X -= params.LR * 2 * m.X
		result := sdk.Result{Iteration: m.Epoch, Metrics: []sdk.Metric{{Name: "loss", Value: m.X * m.X}},
			Done: m.Epoch == o.Epochs}
		if err := sdk.ReportState(run, result, m.state); err != nil {
			return err // the trial was told to stop
		}
	}
	return nil
}

// begin returns the model of the trial's checkpoint, or a new one.
func begin(run sdk.Run) (*model, error) {
	m := &model{X: 10}
	state, err := sdk.RestoredState(run)
	if state != nil {
		if err = json.Unmarshal(state, m); err != nil {
			err = &sdk.RestoreError{Err: err}
		}
	}
	return m, err
}

// state is called when a checkpoint of the last result is wanted. A model in files is saved by
// run.Report's second argument instead, but not in a WASM module.
func (m *model) state() ([]byte, error) { return json.Marshal(m) }
