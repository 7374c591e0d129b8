package evolve

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Options are those that all have that train a population.
type Options struct {
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

// Defaults are the options where nothing is said.
func Defaults() Options {
	return Options{Interval: 10, Quantile: 0.25, Resample: 0.25, Factors: []float64{1.2, 0.8}}
}

// Schema is the options as JSON Schema, with those that only one scheduler has: its
// properties, each with a comma after it.
func Schema(own string) []byte {
	return []byte(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
` + common + "\n" + own + last + `
  }
}`)
}

const common = `    "interval": {
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
    },`

const last = `    "sync": {
      "type": "boolean", "default": false,
      "description": "compare when all trials have arrived; they take turns where fewer run at a time"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }`

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

// Check says what is wrong with the options, if anything.
func (o Options) Check(p sdk.Problem) error {
	switch {
	case o.Interval < 1 || o.Interval > maxIterations:
		return fmt.Errorf("option interval: %d is not in 1..2^53", o.Interval)
	case o.BurnIn > maxIterations:
		return fmt.Errorf("option burn_in: %d is not in 0..2^53", o.BurnIn)
	case !(o.Quantile > 0 && o.Quantile <= 0.5):
		return fmt.Errorf("option quantile: %v is not above 0 and at most 0.5", o.Quantile)
	case o.Sync && p.Trials == 0:
		return errors.New("option sync: the trials can only wait for each other when their number is planned: set trials")
	}
	return o.checkMoves()
}

// Prepare checks the options, and makes of them what [New] takes.
func (o Options) Prepare(p sdk.Problem) (objective.Objective, *Perturber, error) {
	if err := o.Check(p); err != nil {
		return objective.Objective{}, nil, err
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return objective.Objective{}, nil, err
	}
	explores, err := NewPerturber(p.Space, o)
	return compared, explores, err
}

// Traits are those of a scheduler that trains a population.
var Traits = sdk.Traits{RunAhead: 1, Saves: true}

// checkMoves is about how parameters are moved.
func (o Options) checkMoves() error {
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
