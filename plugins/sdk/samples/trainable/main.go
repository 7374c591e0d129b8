// Command trainable is the trainable "descent": gradient descent with momentum on
// Rosenbrock's function.
//
// It can be built as a program and as a WASM module:
//
//	go build -o descent .
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o descent.wasm .
package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

var descent = sdk.TrainablePlugin{
	Info: sdk.Info{
		Name:    "descent",
		Version: "1.0.0",
		Summary: "Descends on Rosenbrock's function with parameters lr and momentum.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() { serve.Trainable(descent) }

type trainable struct{ Epochs int }

var declared = option.Declare(func(t *trainable) []option.Option {
	return []option.Option{
		option.Int("epochs", &t.Epochs, 27, option.From(1), "How many steps."),
	}
})

func open(text []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	t, err := declared.Read(text)
	return &t, sdk.TrainableTraits{Reusable: true, Shared: true}, err
}

// Train implements sdk.Trainable.
func (t *trainable) Train(_ context.Context, run sdk.Run) error {
	var params struct{ LR, Momentum float64 }
	if err := json.Unmarshal(run.Trial().Params, &params); err != nil {
		return err
	}
	b := start(run.Trial().Seed)
	for epoch := range t.Epochs {
		b.roll(params.LR, params.Momentum)
		err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: b.height()}},
			Done: epoch == t.Epochs-1}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// ball is a position and a velocity.
type ball struct{ x, y, vx, vy float64 }

// start returns a position that depends on the seed.
func start(seed uint64) ball {
	rng := rand.New(rand.NewPCG(seed, 0))
	return ball{x: float64(4*rng.Float64()) - 2, y: float64(4*rng.Float64()) - 1}
}

// roll takes a step. Each product is rounded separately, so that all machines compute the same.
func (b *ball) roll(lr, momentum float64) {
	gap := b.y - float64(b.x*b.x)
	dx := float64(2*(b.x-1)) - float64(400*b.x*gap)
	b.vx = float64(momentum*b.vx) - float64(lr*dx)
	b.vy = float64(momentum*b.vy) - float64(lr*200*gap)
	b.x, b.y = b.x+b.vx, b.y+b.vy
}

// height returns Rosenbrock's function (H. H. Rosenbrock, 1960).
func (b *ball) height() float64 {
	gap, ahead := b.y-float64(b.x*b.x), 1-b.x
	return float64(ahead*ahead) + float64(100*gap*gap)
}
