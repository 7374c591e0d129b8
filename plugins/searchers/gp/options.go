package gp

import (
	"cmp"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/option"
)

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "startup": {
      "type": "integer", "minimum": 1, "maximum": 2147483647, "default": 8,
      "description": "How many trials have finished with a finite result before the model is used; until then points are spread evenly."
    },
    "max_trials": {
      "type": "integer", "minimum": 10, "maximum": 2000, "default": 250,
      "description": "How many trials the model is made of; of more it takes the best, the last and a random sample. A suggestion's time grows with the square."
    },
    "candidates": {
      "type": "integer", "minimum": 10, "maximum": 100000, "default": 400,
      "description": "How many points are looked at before the best of them are improved."
    },
    "cost": {
      "type": "number", "minimum": 0, "maximum": 1, "default": 0,
      "description": "How much the time that trials take matters: with 1 the expected improvement is divided by the expected time, with 0 time does not matter."
    },
    "repeats": {
      "type": "boolean", "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`

type options struct {
	Startup    int     `json:"startup"`
	MaxTrials  int     `json:"max_trials"`
	Candidates int     `json:"candidates"`
	Cost       float64 `json:"cost"`
	Repeats    bool    `json:"repeats"`
}

func defaults() options { return options{Startup: 8, MaxTrials: 250, Candidates: 400} }

// readOptions reads what the schema describes.
func readOptions(text []byte) (options, error) {
	o := defaults()
	if err := sdk.ReadOptions(text, &o); err != nil {
		return o, err
	}
	err := cmp.Or(
		option.In("startup", float64(o.Startup), 1, math.MaxInt32),
		option.In("max_trials", float64(o.MaxTrials), 10, 2000),
		option.In("candidates", float64(o.Candidates), 10, 100_000),
		option.In("cost", o.Cost, 0, 1),
	)
	return o, err
}
