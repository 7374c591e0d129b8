package tpe

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

// maxGood is the largest possible number of good trials.
const maxGood = 200

type options struct {
	Startup      int
	Candidates   int
	Gamma        float64
	MaxGood      int
	PriorWeight  float64
	Bandwidth    float64
	Multivariate bool
	Liar         bool
	Repeats      bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("startup", &o.Startup, 10, option.From(1).To(math.MaxInt32),
			"The number of trials with a finite result before the model is used; until then points are random."),
		option.Int("candidates", &o.Candidates, 24, option.From(1).To(10_000),
			"The number of points drawn from the model of the good trials for each suggestion; the best of them is "+
				"suggested."),
		option.Float("gamma", &o.Gamma, 0.1, option.From(0.001).To(1),
			"The share of the finished trials that count as good, rounded up."),
		option.Int("max_good", &o.MaxGood, 25, option.From(1).To(maxGood),
			"The largest number of good trials."),
		option.Float("prior_weight", &o.PriorWeight, 1, option.From(0.001).To(1000),
			"The weight of the space's own distribution in the models; a trial has weight 1. Larger explores "+
				"more."),
		option.Float("bandwidth", &o.Bandwidth, 0.045, option.From(0.001).To(10),
			"The width of a bad trial's kernel, as a share of a parameter's range, for one parameter and a hundred "+
				"trials: "+
				"larger values explore farther from known points."),
		option.Bool("multivariate", &o.Multivariate, true,
			"Whether parameters that exist together are modelled together instead of separately."),
		option.Bool("liar", &o.Liar, true,
			"Whether trials without a result count as bad, which keeps parallel trials apart."),
		answer.Repeats(&o.Repeats),
	}
})

// good returns how many of n trials with finite results are good.
func (o *options) good(n int) int {
	return min(int(math.Ceil(o.Gamma*float64(n))), o.MaxGood)
}
