package bohb

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/halving"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "bohb",
		Version: "1.0.0",
		Summary: "Hyperband for the searcher bohb: brackets that start with many trials at small budgets.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Max       uint64
	Min       uint64
	Factor    uint64
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("max", &o.Max, 81, option.From(1),
			"Iterations after which a surviving trial is finished."),
		option.Int("min", &o.Min, 1, option.From(1),
			"The first iteration at which trials are compared; set it to where results become meaningful."),
		option.Int("reduction_factor", &o.Factor, 3, option.From(2),
			"One of this many trials continues at each halving."),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Min > o.Max {
		return nil, sdk.Traits{}, option.Wrong("min", o.Min, "1 to max, which is %d", o.Max)
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return halving.New(p, compared, band(o.Max, o.Min, o.Factor), o.Factor), sdk.Traits{RunAhead: 1, Saves: true}, nil
}
