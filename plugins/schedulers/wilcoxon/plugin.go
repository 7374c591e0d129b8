package wilcoxon

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "wilcoxon",
		Version: "1.1.0",
		Summary: "Stops trials that a signed-rank test finds worse than the best on the same folds.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Threshold float64
	Startup   int
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Float("p_threshold", &o.Threshold, 0.1, option.Above(0).To(1),
			"A trial is stopped if the test's p is below this; 0.1 requires at least four folds, 0.05 five."),
		option.Int("startup_folds", &o.Startup, 2, option.From(1),
			"The number of folds to compare before a trial is stopped."),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{options: o, objective: compared}, sdk.Traits{RunAhead: 1}, nil
}
