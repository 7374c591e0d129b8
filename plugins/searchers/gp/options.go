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
	Cost       float64
	Repeats    bool
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("startup", &o.Startup, 8, option.From(1).To(math.MaxInt32),
			"How many trials have finished with a finite result before the model is used; "+
				"until then points are spread evenly."),
		option.Int("max_trials", &o.MaxTrials, 250, option.From(10).To(2000),
			"How many trials the model is made of; of more it takes the best, the last and a random sample. "+
				"A suggestion's time grows with the square."),
		option.Int("candidates", &o.Candidates, 400, option.From(10).To(100_000),
			"How many points are looked at before the best of them are improved."),
		option.Float("cost", &o.Cost, 0, option.From(0).To(1),
			"How much the time that trials take matters: "+
				"with 1 the expected improvement is divided by the expected time, with 0 time does not matter."),
		answer.Repeats(&o.Repeats),
	}
})
