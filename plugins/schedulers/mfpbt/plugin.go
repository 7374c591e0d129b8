package mfpbt

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "mf-pbt",
		Version: "1.2.0",
		Summary: "Population based training in subpopulations that evolve at different frequencies.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	evolve.Options
	Periods []uint64
}

const maxGroups = 64

var declared = option.Declare(func(o *options) []option.Option {
	periods := option.Sized(option.List(option.Whole[uint64](option.From(1))), 1, maxGroups)
	return o.Declare(option.Of("periods", &o.Periods, []uint64{1, 2, 4, 8}, periods,
		"One subpopulation for each; it evolves after this many comparisons. The list must increase."))
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := check(o.Periods); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, explores, err := o.Prepare(p)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return evolve.Divided(p, o.Options, o.Periods, compared, explores), evolve.Traits, nil
}

func check(periods []uint64) error {
	for i := range periods[1:] {
		if periods[i+1] <= periods[i] {
			return option.Wrong("periods", periods, "a list that grows")
		}
	}
	return nil
}
