package auto

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "auto",
		Version: "1.2.0",
		Summary: "Learns how far early values can be trusted, and stops only as hard as that allows.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Max       uint64
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("max", &o.Max, 0, option.From(0),
			"Iterations after which a trial is finished; 0: trials end by themselves."),
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
	s := &scheduler{options: o, objective: compared, seed: p.Seed, length: o.Max}
	return s, sdk.Traits{RunAhead: 1}, nil
}
