package asha

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "asha",
		Version: "1.0.0",
		Summary: "Asynchronous successive halving: only the best fraction at each milestone trains on.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "max": {
      "type": "integer", "minimum": 1, "default": 100,
      "description": "iterations after which a trial is finished"
    },
    "grace": {
      "type": "integer", "minimum": 1, "default": 1,
      "description": "iterations before which no trial is stopped: the first rung"
    },
    "reduction_factor": {
      "type": "integer", "minimum": 2, "default": 3,
      "description": "one in so many trials goes on at each rung"
    },
    "brackets": {
      "type": "integer", "minimum": 1, "default": 1,
      "description": "bracket s starts at rung s; trials are spread over them"
    },
    "type": {
      "enum": ["stopping", "promotion"], "default": "stopping",
      "description": "stopping ends trials at rungs; promotion pauses them there and wakes the best, which needs checkpoints"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }
  }
}`

type options struct {
	Max       uint64 `json:"max"`
	Grace     uint64 `json:"grace"`
	Factor    uint64 `json:"reduction_factor"`
	Brackets  int    `json:"brackets"`
	Type      string `json:"type"`
	Objective string `json:"objective"`
}

const (
	stopping  = "stopping"
	promotion = "promotion"
)

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Max: 100, Grace: 1, Factor: 3, Brackets: 1, Type: stopping}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.check(); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{options: o, objective: compared, seed: p.Seed, crowd: hold.NewCrowd(p.Trials), brackets: makeBrackets(o)}
	return s, sdk.Traits{RunAhead: 1, Saves: o.Type == promotion}, nil
}

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

func (o options) check() error {
	switch {
	case o.Max < 1 || o.Max > maxIterations:
		return fmt.Errorf("option max: %d is not in 1..2^53", o.Max)
	case o.Grace < 1 || o.Grace > o.Max:
		return fmt.Errorf("option grace: %d is not in 1..max, which is %d", o.Grace, o.Max)
	case o.Factor < 2 || o.Factor > maxIterations:
		return errors.New("option reduction_factor: want 2 or more")
	case o.Type != stopping && o.Type != promotion:
		return fmt.Errorf("option type: %q is neither stopping nor promotion", o.Type)
	}
	if n := len(rungs(o)); o.Brackets < 1 || o.Brackets > n {
		return fmt.Errorf("option brackets: %d is not in 1..%d, the number of rungs from grace to max", o.Brackets, n)
	}
	return nil
}
