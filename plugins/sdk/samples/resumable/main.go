// Command resumable is the trainable "descent-resumable": gradient descent with momentum on
// Rosenbrock's function. It can be paused and resumed, and reports the same losses as without the
// pause.
//
// It can be built as a program and as a WASM module:
//
//	go build -o descent-resumable .
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o descent-resumable.wasm .
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

var descent = sdk.TrainablePlugin{
	Info: sdk.Info{
		Name:    "descent-resumable",
		Version: "1.0.0",
		Summary: "Descends on Rosenbrock's function, and can continue from a checkpoint.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() { serve.Trainable(descent) }

type trainable struct{ Epochs uint64 }

var declared = option.Declare(func(t *trainable) []option.Option {
	return []option.Option{
		option.Int("epochs", &t.Epochs, 27, option.From(1), "How many steps."),
	}
})

func open(text []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	t, err := declared.Read(text)
	return &t, sdk.TrainableTraits{Reusable: true, Shared: true, Saves: true}, err
}

// Train implements sdk.Trainable.
func (t *trainable) Train(_ context.Context, run sdk.Run) error {
	var params struct{ LR, Momentum float64 }
	if err := json.Unmarshal(run.Trial().Params, &params); err != nil {
		return err
	}
	b, err := begin(run)
	if err != nil {
		return err
	}
	for b.Epoch < t.Epochs {
		b.roll(params.LR, params.Momentum)
		result := sdk.Result{Iteration: b.Epoch, Metrics: []sdk.Metric{{Name: "loss", Value: b.height()}},
			Done: b.Epoch == t.Epochs}
		if err := sdk.ReportState(run, result, b.state); err != nil {
			return err
		}
	}
	return nil
}

// ball is a position and a velocity, which is the whole state.
type ball struct {
	Epoch        uint64
	X, Y, VX, VY float64
}

// begin continues from a saved state, or starts at a position that depends on the seed.
func begin(run sdk.Run) (b ball, err error) {
	state, err := sdk.RestoredState(run)
	switch {
	case err != nil:
		return b, err
	case state != nil:
		if n, err := binary.Decode(state, binary.LittleEndian, &b); err != nil || n != len(state) {
			return b, &sdk.RestoreError{Err: fmt.Errorf("%d bytes are not a state of this trainable", len(state))}
		}
		return b, nil
	}
	rng := rand.New(rand.NewPCG(run.Trial().Seed, 0))
	return ball{X: float64(4*rng.Float64()) - 2, Y: float64(4*rng.Float64()) - 1}, nil
}

// state encodes the numbers in binary, because JSON cannot encode an infinite loss.
func (b *ball) state() ([]byte, error) { return binary.Append(nil, binary.LittleEndian, b) }

// roll takes a step. Each product is rounded separately, so that all machines compute the same.
func (b *ball) roll(lr, momentum float64) {
	gap := b.Y - float64(b.X*b.X)
	dx := float64(2*(b.X-1)) - float64(400*b.X*gap)
	b.VX = float64(momentum*b.VX) - float64(lr*dx)
	b.VY = float64(momentum*b.VY) - float64(lr*200*gap)
	b.X, b.Y = b.X+b.VX, b.Y+b.VY
	b.Epoch++
}

// height returns Rosenbrock's function (H. H. Rosenbrock, 1960).
func (b *ball) height() float64 {
	gap, ahead := b.Y-float64(b.X*b.X), 1-b.X
	return float64(ahead*ahead) + float64(100*gap*gap)
}
