package moasha

import (
	"math"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	milestones "github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "moasha",
		Version: "1.1.0",
		Summary: "Asynchronous successive halving for several objectives, by layers of non-dominated trials.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Max        uint64
	Grace      uint64
	Factor     uint64
	Objectives []string
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Int("max", &o.Max, 100, option.From(1),
			"Iterations after which a trial is finished."),
		option.Int("grace", &o.Grace, 1, option.From(1),
			"The first rung: no trial is stopped before this iteration."),
		option.Int("reduction_factor", &o.Factor, 3, option.From(2),
			"One of this many trials continues at each rung."),
		option.Of("objectives", &o.Objectives, nil, option.List(option.Text()),
			"The compared metrics; empty: all objectives."),
	}
})

// factor returns the factor as a divisor.
func (o options) factor() int { return int(min(o.Factor, math.MaxInt32)) }

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Grace > o.Max {
		return nil, sdk.Traits{}, option.Wrong("grace", o.Grace, "1 to max, which is %d", o.Max)
	}
	compared, err := choose(p, o.Objectives)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	at := milestones.Ladder(o.Grace, o.Max, o.Factor)
	return &scheduler{options: o, objectives: compared, at: at,
		rungs: make([]rung, len(at))}, sdk.Traits{RunAhead: 1}, nil
}

// choose returns the compared objectives: those named, or all.
func choose(p sdk.Problem, names []string) (all []objective.Objective, _ error) {
	if len(names) == 0 {
		for _, o := range p.Objectives {
			names = append(names, o.Metric)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, option.Wrong("objectives", names, "each name once")
		}
		o, err := objective.Named(p, "objectives", name)
		if err != nil {
			return nil, err
		}
		seen[name] = true
		all = append(all, o)
	}
	return all, nil
}
