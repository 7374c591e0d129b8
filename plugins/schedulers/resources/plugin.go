package resources

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "resources",
		Version: "1.0.0",
		Summary: "Gives the resources of trials that have ended to those that still train.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "request": {
      "type": "object", "default": {},
      "additionalProperties": {"type": ["number", "string"]},
      "description": "one slot; empty: what each trial asks for in the experiment"
    },
    "slots": {
      "type": "integer", "minimum": 0, "maximum": 1000000, "default": 0,
      "description": "how many such requests there is room for; 0: as many as fit, or the experiment's concurrency"
    },
    "max": {
      "type": "integer", "minimum": 0, "default": 0,
      "description": "how many slots a trial is given at most; 0: all"
    },
    "step": {
      "type": "integer", "minimum": 1, "default": 1,
      "description": "changes of fewer slots are not made"
    },
    "interval": {
      "type": "integer", "minimum": 1, "default": 10,
      "description": "iterations between a trial's changes, at least"
    },
    "give": {
      "enum": ["even", "best"], "default": "even",
      "description": "even: to all alike; best: to the trial with the best last result"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that best compares; needed when there are several objectives"
    }
  }
}`

type options struct {
	Request   request `json:"request"`
	Slots     int     `json:"slots"`
	Max       int     `json:"max"`
	Step      int     `json:"step"`
	Interval  uint64  `json:"interval"`
	Give      string  `json:"give"`
	Objective string  `json:"objective"`
}

const (
	even = "even"
	best = "best"
)

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Step: 1, Interval: 10, Give: even}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.complete(p); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.check(); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{options: o, objective: compared, live: map[uint32]*trial{}, planned: p.Trials}
	return s, sdk.Traits{RunAhead: 1, Saves: true}, nil
}

// complete takes from the problem what the options do not say.
func (o *options) complete(p sdk.Problem) error {
	if len(o.Request) == 0 && len(p.Request) > 0 {
		if err := json.Unmarshal(p.Request, &o.Request); err != nil {
			return fmt.Errorf("what trials ask for: %w", err)
		}
	}
	if len(o.Request) == 0 {
		o.Request = request{"cpu": json.RawMessage("1")}
	}
	var capacity request
	if len(p.Capacity) > 0 {
		if err := json.Unmarshal(p.Capacity, &capacity); err != nil {
			return fmt.Errorf("what there is: %w", err)
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

const (
	maxSlots      = 1_000_000
	maxIterations = 1 << 53
)

func (o options) check() error {
	switch {
	case o.Slots < 0 || o.Slots > maxSlots:
		return fmt.Errorf("option slots: %d is not in 0..%d", o.Slots, maxSlots)
	case o.Max < 0:
		return fmt.Errorf("option max: %d is not 0 or more", o.Max)
	case o.Step < 1:
		return fmt.Errorf("option step: %d is not 1 or more", o.Step)
	case o.Interval < 1 || o.Interval > maxIterations:
		return fmt.Errorf("option interval: %d is not in 1..2^53", o.Interval)
	case o.Give != even && o.Give != best:
		return fmt.Errorf("option give: %q is neither even nor best", o.Give)
	}
	return nil
}
