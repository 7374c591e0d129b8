package pasha

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/hold"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pasha",
		Version: "1.0.0",
		Summary: "Asynchronous successive halving that trains longer only while the order of the best still changes.",
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
      "description": "iterations after which a trial is finished, if it comes that far"
    },
    "grace": {
      "type": "integer", "minimum": 1, "default": 1,
      "description": "iterations before which no trial is paused: the first rung"
    },
    "reduction_factor": {
      "type": "integer", "minimum": 2, "default": 3,
      "description": "one in so many trials goes on at each rung"
    },
    "epsilon": {
      "type": "number", "minimum": 0, "default": 0,
      "description": "values that differ by no more than this are equals; 0: by what lies between neighbours"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }
  }
}`

type options struct {
	Max       uint64  `json:"max"`
	Grace     uint64  `json:"grace"`
	Factor    uint64  `json:"reduction_factor"`
	Epsilon   float64 `json:"epsilon"`
	Objective string  `json:"objective"`
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Max: 100, Grace: 1, Factor: 3}
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
	return newScheduler(p, o, compared), sdk.Traits{RunAhead: 1, Saves: true}, nil
}

func newScheduler(p sdk.Problem, o options, compared objective.Objective) *scheduler {
	at := rung.Ladder(o.Grace, o.Max, o.Factor)
	s := &scheduler{options: o, objective: compared, crowd: hold.NewCrowd(p.Trials), at: at, rungs: make([]rung.Rung, len(at)), top: 1}
	for i := range s.rungs {
		s.rungs[i] = rung.New(int(o.Factor), 0)
	}
	return s
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
	case !(o.Epsilon >= 0):
		return fmt.Errorf("option epsilon: %v is not 0 or more", o.Epsilon)
	}
	return nil
}
