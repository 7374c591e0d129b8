package resources

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "resources",
		Version: "1.0.0",
		Summary: "Gives the resources of ended trials to the running ones.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	Request   request
	Slots     int
	Max       int
	Step      int
	Interval  uint64
	Give      string
	Objective string
}

const (
	even = "even"
	best = "best"
)

// maxSlots limits amounts of resources to countable numbers.
const maxSlots = 1_000_000

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Of("request", (*map[string]json.RawMessage)(&o.Request), nil, option.Map(option.Raw("number", "string")),
			"One slot; empty: the request of each trial in the experiment."),
		option.Int("slots", &o.Slots, 0, option.From(0).To(maxSlots),
			"The number of slots for all trials together; "+
				"0: as many as fit into the capacity at the start of the experiment, or the experiment's concurrency."),
		option.Int("max", &o.Max, 0, option.From(0),
			"The maximum number of slots of a trial; 0: all."),
		option.Int("step", &o.Step, 1, option.From(1),
			"The minimum change, in slots."),
		option.Int("interval", &o.Interval, 10, option.From(1),
			"The minimum number of iterations between changes of a trial."),
		option.Enum("give", &o.Give, even,
			"Even: equally to all live trials; best: each has one, and all others go to the trial with the best "+
				"last result.",
			even, best),
		objective.Option(&o.Objective),
	}
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.complete(p); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{options: o, objective: compared, live: map[uint32]*trial{}, planned: p.Trials}
	return s, sdk.Traits{RunAhead: 1, Saves: true}, nil
}

// complete sets options that the problem implies.
func (o *options) complete(p sdk.Problem) error {
	if len(o.Request) == 0 && len(p.Request) > 0 {
		if err := json.Unmarshal(p.Request, &o.Request); err != nil {
			return fmt.Errorf("the request of the trials: %w", err)
		}
	}
	if len(o.Request) == 0 {
		o.Request = request{"cpu": json.RawMessage("1")}
	}
	var capacity request
	if len(p.Capacity) > 0 {
		if err := json.Unmarshal(p.Capacity, &capacity); err != nil {
			return fmt.Errorf("the capacity: %w", err)
		}
	}
	if err := errors.Join(o.Request.check(), capacity.check()); err != nil {
		return err
	}
	if o.Slots == 0 {
		o.Slots = o.Request.room(capacity)
	}
	if o.Slots == 0 {
		o.Slots = p.Concurrency
	}
	return nil
}
