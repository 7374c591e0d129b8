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
			"The number of trials with a finite result before the search starts around the best third of "+
				"them; "+
				"until then points are evenly distributed. "+
				"Set it to the number of trials that are known already to start from their results."),
		option.Float("sigma", &o.Sigma, 0.17, option.From(0.0001).To(1),
			"The initial standard deviation, as a share of a parameter's range."),
		option.Int("population", &o.Population, 0, option.From(0).To(most),
			"The number of trials of a generation, at least 3; 0: 4 plus three times the logarithm of the number of "+
				"parameters. "+
				"Larger is more robust and slower."),
		option.Bool("adapt", &o.Adapt, false,
			"Whether learning rates adapt to the signal-to-noise ratio: "+
				"for noisy or rugged objectives and at least a thousand trials."),
		option.Bool("restarts", &o.Restarts, true,
			"Whether the search restarts elsewhere, with generations of twice the size, "+
				"when it no longer improves."),
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
