package pbt

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
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
	Interval  uint64    `json:"interval"`
	BurnIn    uint64    `json:"burn_in"`
	Max       uint64    `json:"max"`
	Quantile  float64   `json:"quantile"`
	Resample  float64   `json:"resample"`
	Factors   []float64 `json:"factors"`
	Mutate    []string  `json:"mutate"`
	Sync      bool      `json:"sync"`
	Objective string    `json:"objective"`
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Interval: 10, Quantile: 0.25, Resample: 0.25, Factors: []float64{1.2, 0.8}}
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
	explores, err := newExplorer(p.Space, o)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	s := &scheduler{options: o, objective: compared, explorer: explores, seed: p.Seed, planned: p.Trials}
	s.barrier = s.first()
	return s, sdk.Traits{RunAhead: 1, Saves: true}, nil
}

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

func (o options) check(p sdk.Problem) error {
	switch {
	case o.Interval < 1 || o.Interval > maxIterations:
		return fmt.Errorf("option interval: %d is not in 1..2^53", o.Interval)
	case o.BurnIn > maxIterations:
		return fmt.Errorf("option burn_in: %d is not in 0..2^53", o.BurnIn)
	case !(o.Quantile > 0 && o.Quantile <= 0.5):
		return fmt.Errorf("option quantile: %v is not above 0 and at most 0.5", o.Quantile)
	case !(o.Resample >= 0 && o.Resample <= 1):
		return fmt.Errorf("option resample: %v is not in 0..1", o.Resample)
	case o.Sync && p.Trials == 0:
		return errors.New("option sync: the trials can only wait for each other when their number is planned: set trials")
	}
	return o.checkFactors()
}

func (o options) checkFactors() error {
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

func newExplorer(s *space.Space, o options) (explorer, error) {
	x := explorer{space: s, options: o, free: make([]bool, len(s.Params))}
	for i, p := range s.Params {
		x.free[i] = len(o.Mutate) == 0 && !p.Grid
	}
	for _, name := range o.Mutate {
		i, err := find(s, name)
		if err != nil {
			return explorer{}, err
		}
		x.free[i] = true
	}
	return x, nil
}

func find(s *space.Space, name string) (int, error) {
	for i, p := range s.Params {
		switch {
		case p.Name == name && p.Grid:
			return 0, fmt.Errorf("option mutate: %q is a grid, whose values the experiment gives", name)
		case p.Name == name:
			return i, nil
		}
	}
	return 0, fmt.Errorf("option mutate: %q is not a parameter of the space", name)
}
