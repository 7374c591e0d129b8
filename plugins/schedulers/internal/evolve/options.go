package evolve

import (
	"errors"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Options are the common options of schedulers that train a population.
type Options struct {
	Interval  uint64
	BurnIn    uint64
	Max       uint64
	Quantile  float64
	Resample  float64
	Factors   []float64
	Mutate    []string
	Sync      bool
	Objective string
}

// Declare declares the options, and then own, the options of one scheduler.
func (o *Options) Declare(own ...option.Option) []option.Option {
	return append([]option.Option{
		option.Int("interval", &o.Interval, 10, option.From(1),
			"Iterations between a trial's comparisons."),
		option.Int("burn_in", &o.BurnIn, 0, option.From(0),
			"Iterations before the first comparison."),
		option.Int("max", &o.Max, 0, option.From(0),
			"Iterations after which a trial is finished; 0: when it is complete."),
		option.Float("quantile", &o.Quantile, 0.25, option.Above(0).To(0.5),
			"The fraction that counts as worst, and as best."),
		option.Float("resample", &o.Resample, 0.25, option.From(0).To(1),
			"The probability that a parameter is drawn again instead of moved."),
		option.Of("factors", &o.Factors, []float64{1.2, 0.8},
			option.Sized(option.List(option.Number(option.Above(0))), 1, 0),
			"Factors by which numbers are moved."),
		option.Of("mutate", &o.Mutate, nil, option.List(option.Text()),
			"Names of the parameters that may change; empty: all. "+
				"Leave out those that the checkpoint depends on, such as the number of layers."),
		option.Bool("sync", &o.Sync, false,
			"Whether trials are compared when all have arrived, instead of one by one; "+
				"they take turns if fewer run at a time."),
		objective.Option(&o.Objective),
	}, own...)
}

// Prepare checks the options against the problem, and returns the arguments of [New].
func (o Options) Prepare(p sdk.Problem) (objective.Objective, *Perturber, error) {
	if o.Sync && p.Trials == 0 {
		return objective.Objective{}, nil, errors.New(
			`option "sync": the trials can only wait for each other when their number is planned: set trials`)
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return objective.Objective{}, nil, err
	}
	explores, err := NewPerturber(p.Space, o)
	return compared, explores, err
}

// Traits returns the traits of a scheduler that trains a population.
var Traits = sdk.Traits{RunAhead: 1, Saves: true}
