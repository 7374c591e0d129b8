package gp

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/searchers/internal/answer"
)

type options struct {
	Startup    int
	MaxTrials  int
	Candidates int
	Cost       *float64
	Repeats    bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("startup", &o.Startup, 8, option.From(1).To(math.MaxInt32),
			"The number of trials with a finite result before the model is used; "+
				"until then points are evenly distributed."),
		option.Int("max_trials", &o.MaxTrials, 250, option.From(10).To(2000),
			"The maximum number of trials in the model; of more it uses the best, the last and a random sample. "+
				"The time of a suggestion grows with its square."),
		option.Int("candidates", &o.Candidates, 400, option.From(10).To(100_000),
			"The number of points evaluated before the best of them are improved."),
		answer.Cost(&o.Cost),
		answer.Repeats(&o.Repeats),
	}
})
