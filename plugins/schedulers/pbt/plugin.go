package pbt

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pbt",
		Version: "1.0.0",
		Summary: "Population based training: the worst go on from the best, with changed parameters.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "interval": {
      "type": "integer", "minimum": 1, "default": 10,
      "description": "iterations between comparisons"
    },
    "burn_in": {
      "type": "integer", "minimum": 0, "default": 0,
      "description": "iterations before the first comparison"
    },
    "max": {
      "type": "integer", "minimum": 0, "default": 0,
      "description": "iterations after which a trial is finished; 0: when it is complete"
    },
    "quantile": {
      "type": "number", "exclusiveMinimum": 0, "maximum": 0.5, "default": 0.25,
      "description": "the fraction that counts as worst, and as best"
    },
    "resample": {
      "type": "number", "minimum": 0, "maximum": 1, "default": 0.25,
      "description": "probability with which a parameter is drawn anew instead of being moved"
    },
    "factors": {
      "type": "array", "minItems": 1, "default": [1.2, 0.8],
      "items": {"type": "number", "exclusiveMinimum": 0},
      "description": "factors by which numbers are moved"
    },
    "mutate": {
      "type": "array", "items": {"type": "string"}, "default": [],
      "description": "names of the parameters that may change; empty: all"
    },
    "sync": {
      "type": "boolean", "default": false,
      "description": "compare when all trials have arrived"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }
  }
}`

type options struct {
	evolve.Options
	Resample float64   `json:"resample"`
	Factors  []float64 `json:"factors"`
	Mutate   []string  `json:"mutate"`
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Options: evolve.Defaults, Resample: 0.25, Factors: []float64{1.2, 0.8}}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.check(p); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	explores, err := evolve.NewPerturber(p.Space, o.Mutate, o.Resample, o.Factors)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return evolve.New(p, o.Options, compared, explores), sdk.Traits{RunAhead: 1, Saves: true}, nil
}

func (o options) check(p sdk.Problem) error {
	if err := o.Check(p); err != nil {
		return err
	}
	if !(o.Resample >= 0 && o.Resample <= 1) {
		return fmt.Errorf("option resample: %v is not in 0..1", o.Resample)
	}
	if len(o.Factors) == 0 {
		return errors.New("option factors: want at least one")
	}
	for _, f := range o.Factors {
		if f <= 0 {
			return fmt.Errorf("option factors: %v is not above 0", f)
		}
	}
	return nil
}
