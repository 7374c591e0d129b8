package digits

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the trainable to be served.
var Plugin = sdk.TrainablePlugin{
	Info: sdk.Info{
		Kind:    sdk.KindTrainable,
		Name:    "digits",
		Version: "1.0.0",
		Summary: "A neural network that learns to read handwritten digits, in a few milliseconds per epoch.",
		Options: declared.Schema(),
	},
	Open: open,
	Check: func(_, params []byte) error {
		_, err := parseParams(params)
		return err
	},
}

type options struct {
	Validation float64
	SplitSeed  uint64
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Float("validation", &o.Validation, 0.25, option.From(0.05).To(0.95),
			"The share of the images for validation; the others are for training."),
		option.Int("split_seed", &o.SplitSeed, 0, option.Any(),
			"The seed of the split into training and validation images, the same for all trials."),
	}
})

// trainable is shared by the trials of a process, which only read it.
type trainable struct {
	train, validation images
}

func open(object []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	o, err := declared.Read(object)
	if err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	all, err := load()
	if err != nil {
		return nil, sdk.TrainableTraits{}, fmt.Errorf("digits: the images in the program: %w", err)
	}
	var t trainable
	t.train, t.validation = split(all, o.Validation, o.SplitSeed)
	return &t, sdk.TrainableTraits{Reusable: true, Saves: true}, nil
}

// Train trains one network.
func (tr *trainable) Train(ctx context.Context, run sdk.Run) error {
	trial := run.Trial()
	p, err := parseParams(trial.Params)
	if err != nil {
		return err
	}
	t := newTraining(tr, p, trial.Seed)
	if trial.Restore != "" {
		if err := t.restore(trial.Restore); err != nil {
			return err
		}
	}
	run.Log(fmt.Sprintf("layers of sizes %v, %d training and %d validation images",
		t.net.sizes, tr.train.len(), tr.validation.len()))
	sdk.ExportWith(run, t.export)
	for t.epoch < uint64(p.epochs) {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", sdk.ErrStopped, context.Cause(ctx))
		}
		result := t.next()
		result.Done = t.epoch == uint64(p.epochs)
		if err := run.Report(result, t.save); err != nil {
			return err
		}
	}
	return nil
}

// evaluateAt is how many images are evaluated at a time.
const evaluateAt = 64

// training is the state of one run.
type training struct {
	*trainable
	params params
	seed   uint64
	net    *network
	opt    *optimizer
	epoch  uint64 // the last completed one
	order  []int
	batch  images
}

func newTraining(tr *trainable, p params, seed uint64) *training {
	t := &training{trainable: tr, params: p, seed: seed}
	t.net = newNetwork(p, max(p.batch, evaluateAt))
	t.net.initialise(t.random(0))
	t.opt = newOptimizer(p, len(t.net.weights))
	t.order = make([]int, tr.train.len())
	t.batch = newImages(p.batch)
	return t
}

// random returns the random numbers of an epoch; 0 is for the initial weights.
func (t *training) random(epoch uint64) *rand.Rand {
	return rand.New(rand.NewPCG(t.seed, epoch))
}

// next trains for one epoch and returns the metrics after it.
func (t *training) next() sdk.Result {
	t.epoch++
	trainLoss := t.pass(t.random(t.epoch))
	loss, accuracy := t.evaluate(t.validation)
	return sdk.Result{Iteration: t.epoch, Metrics: []sdk.Metric{
		{Name: "accuracy", Value: accuracy},
		{Name: "loss", Value: loss},
		{Name: "train_loss", Value: trainLoss},
	}}
}

// pass iterates over the training images once, in random order, and returns the mean loss.
func (t *training) pass(rng *rand.Rand) float64 {
	for i := range t.order {
		t.order[i] = i
	}
	shuffle(rng, t.order)
	sum := 0.0
	for from := 0; from < len(t.order); from += t.params.batch {
		chosen := t.order[from:min(from+t.params.batch, len(t.order))]
		t.train.copyTo(t.batch, chosen)
		sum += t.step(rng, t.batch.slice(0, len(chosen)))
	}
	return sum / float64(len(t.order))
}

// step trains on one batch and returns its summed loss.
func (t *training) step(rng *rand.Rand, batch images) float64 {
	t.net.drop(rng, t.params.dropout)
	t.net.forward(batch.X, true)
	loss, _ := t.net.score(batch.Labels)
	t.net.backward(batch)
	t.net.decay(t.params.weightDecay)
	t.opt.step(t.net.weights, t.net.gradient)
	return loss
}

// evaluate returns the mean loss and the share of correct images, both NaN for a network that has
// diverged.
func (t *training) evaluate(im images) (loss, accuracy float64) {
	right := 0
	for from := 0; from < im.len(); from += evaluateAt {
		part := im.slice(from, min(from+evaluateAt, im.len()))
		t.net.forward(part.X, false)
		l, r := t.net.score(part.Labels)
		loss, right = loss+l, right+r
	}
	n := float64(im.len())
	if math.IsNaN(loss) {
		return loss, math.NaN()
	}
	return loss / n, float64(right) / n
}
