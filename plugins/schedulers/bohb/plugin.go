package bohb

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/halving"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "bohb",
		Version: "1.0.0",
		Summary: "Hyperband for the searcher bohb: brackets that begin with many trials at small budgets.",
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
      "type": "integer", "minimum": 1, "default": 81,
      "description": "iterations after which a trial is finished"
    },
    "min": {
      "type": "integer", "minimum": 1, "default": 1,
      "description": "iterations before which no trial is compared"
    },
    "reduction_factor": {
      "type": "integer", "minimum": 2, "default": 3,
      "description": "one in so many trials goes on at each halving"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }
  }
}`

type options struct {
	Max       uint64 `json:"max"`
	Min       uint64 `json:"min"`
	Factor    uint64 `json:"reduction_factor"`
	Objective string `json:"objective"`
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Max: 81, Min: 1, Factor: 3}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := halving.Check(o.Max, o.Factor); err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Min < 1 || o.Min > o.Max {
		return nil, sdk.Traits{}, fmt.Errorf("option min: %d is not in 1..max, which is %d", o.Min, o.Max)
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return halving.New(p, compared, band(o.Max, o.Min, o.Factor), o.Factor), sdk.Traits{RunAhead: 1, Saves: true}, nil
}
