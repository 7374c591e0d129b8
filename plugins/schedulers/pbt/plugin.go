package pbt

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pbt",
		Version: "1.2.0",
		Summary: "Population based training: the worst continue from the best, with changed parameters.",
		Options: declared.Schema(),
	},
	Open: open,
}

var declared = option.Declare(func(o *evolve.Options) []option.Option { return o.Declare() })

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, explores, err := o.Prepare(p)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return evolve.New(p, o, compared, explores), evolve.Traits, nil
}
