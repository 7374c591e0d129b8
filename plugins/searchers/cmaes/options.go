package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

type options struct {
	Startup    int
	Sigma      float64
	Population int
	Adapt      bool
	Restarts   bool
	Repeats    bool
}

// most is the largest population.
const most = 100_000

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("startup", &o.Startup, 16, option.From(1).To(math.MaxInt32),
			"How many trials have finished with a finite result before the search begins around the best third of them; "+
				"until then points are spread evenly. "+
				"Set it to the number of trials that are known already to begin with what they found."),
		option.Float("sigma", &o.Sigma, 0.17, option.From(0.0001).To(1),
			"The standard deviation at the beginning, as a share of a parameter's range."),
		option.Int("population", &o.Population, 0, option.From(0).To(most),
			"How many trials a generation has, at least 3; 0: 4 and three times the logarithm of the number of parameters. "+
				"More is more robust and slower."),
		option.Bool("adapt", &o.Adapt, false,
			"Whether learning rates adapt to how clear the direction is: "+
				"for noisy or rugged objectives and at least a thousand trials."),
		option.Bool("restarts", &o.Restarts, true,
			"Whether, when nothing more is to be found near, "+
				"the search begins again elsewhere with generations of twice the size."),
		answer.Repeats(&o.Repeats),
	}
})

func readOptions(text []byte) (options, error) {
	o, err := declared.Read(text)
	if err == nil && (o.Population == 1 || o.Population == 2) {
		err = option.Wrong("population", o.Population, "0, or a whole number from 3 to %d", most)
	}
	return o, err
}
