package asha

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "asha",
		Version: "1.0.0",
		Summary: "Asynchronous successive halving: only the best fraction continues at each milestone.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Max       uint64
	Grace     uint64
	Factor    uint64
	Brackets  int
	Type      string
	Objective string
}

const (
	stopping  = "stopping"
	promotion = "promotion"
)

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("max", &o.Max, 100, option.From(1),
			"Iterations after which a trial is finished."),
		option.Int("grace", &o.Grace, 1, option.From(1),
			"The first rung: no trial is stopped before this iteration."),
		option.Int("reduction_factor", &o.Factor, 3, option.From(2),
			"One of this many trials continues at each rung."),
		option.Int("brackets", &o.Brackets, 1, option.From(1),
			"Bracket s starts at rung s, so that slow starters get more time; trials are distributed "+
				"over the brackets."),
		option.Enum("type", &o.Type, stopping,
			"Stopping ends trials at rungs; promotion pauses them there and wakes the best, which needs checkpoints.",
			stopping, promotion),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.check(); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{
		options: o, objective: compared, seed: p.Seed, crowd: hold.NewCrowd(p.Trials), brackets: makeBrackets(o),
	}
	return s, sdk.Traits{RunAhead: 1, Saves: o.Type == promotion}, nil
}

// check checks options that depend on others.
func (o options) check() error {
	if o.Grace > o.Max {
		return option.Wrong("grace", o.Grace, "1 to max, which is %d", o.Max)
	}
	if n := len(rungs(o)); o.Brackets > n {
		return option.Wrong("brackets", o.Brackets, "1 to %d, the number of rungs from grace to max", n)
	}
	return nil
}
