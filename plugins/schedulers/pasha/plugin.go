package pasha

import (
	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pasha",
		Version: "1.0.0",
		Summary: "Asynchronous successive halving that trains longer only while the ranking of the best changes.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Max       uint64
	Grace     uint64
	Factor    uint64
	Epsilon   float64
	Objective string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("max", &o.Max, 100, option.From(1),
			"The maximum number of iterations of a trial."),
		option.Int("grace", &o.Grace, 1, option.From(1),
			"The first rung: no trial is paused before this iteration."),
		option.Int("reduction_factor", &o.Factor, 3, option.From(2),
			"One of this many trials continues at each rung."),
		option.Float("epsilon", &o.Epsilon, 0, option.From(0),
			"Values that differ by at most this are equal; 0: the median distance between neighbours."),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Grace > o.Max {
		return nil, sdk.Traits{}, option.Wrong("grace", o.Grace, "1 to max, which is %d", o.Max)
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return newScheduler(p, o, compared), sdk.Traits{RunAhead: 1, Saves: true}, nil
}

func newScheduler(p sdk.Problem, o options, compared objective.Objective) *scheduler {
	at := rung.Ladder(o.Grace, o.Max, o.Factor)
	s := &scheduler{
		options: o, objective: compared, crowd: hold.NewCrowd(p.Trials), at: at, rungs: make([]rung.Rung,
			len(at)), top: 1,
	}
	for i := range s.rungs {
		s.rungs[i] = rung.New(int(o.Factor), 0)
	}
	return s
}
