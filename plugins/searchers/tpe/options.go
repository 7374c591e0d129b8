package tpe

import (
	"cmp"
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/internal/option"
)

// maxGood is the largest number of good trials that can be asked for.
const maxGood = 200

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "startup": {
      "type": "integer", "minimum": 1, "maximum": 2147483647, "default": 10,
      "description": "How many trials have finished with a finite result before the model is used; until then points are random."
    },
    "candidates": {
      "type": "integer", "minimum": 1, "maximum": 10000, "default": 24,
      "description": "How many points are drawn from the model of the good trials for each suggestion; the best of them is suggested."
    },
    "gamma": {
      "type": "number", "minimum": 0.001, "maximum": 1, "default": 0.1,
      "description": "The share of the finished trials that is good, rounded up."
    },
    "max_good": {
      "type": "integer", "minimum": 1, "maximum": 200, "default": 25,
      "description": "The largest number of good trials."
    },
    "prior_weight": {
      "type": "number", "minimum": 0.001, "maximum": 1000, "default": 1,
      "description": "The weight of the space's own distribution in the models, where a trial has weight 1: larger explores more."
    },
    "bandwidth": {
      "type": "number", "minimum": 0.001, "maximum": 10, "default": 0.045,
      "description": "The width of a bad trial's kernel, as a share of a parameter's range, for one parameter and a hundred trials: larger looks farther from what was tried."
    },
    "multivariate": {
      "type": "boolean", "default": true,
      "description": "Whether parameters that exist together are modelled together, not each by itself."
    },
    "liar": {
      "type": "boolean", "default": true,
      "description": "Whether trials without a result count as bad, which keeps trials that run at the same time apart."
    },
    "repeats": {
      "type": "boolean", "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`

type options struct {
	Startup      int     `json:"startup"`
	Candidates   int     `json:"candidates"`
	Gamma        float64 `json:"gamma"`
	MaxGood      int     `json:"max_good"`
	PriorWeight  float64 `json:"prior_weight"`
	Bandwidth    float64 `json:"bandwidth"`
	Multivariate bool    `json:"multivariate"`
	Liar         bool    `json:"liar"`
	Repeats      bool    `json:"repeats"`
}

func defaults() options {
	return options{Startup: 10, Candidates: 24, Gamma: 0.1, MaxGood: 25, PriorWeight: 1, Bandwidth: 0.045, Multivariate: true, Liar: true}
}

// readOptions reads what the schema describes.
func readOptions(text []byte) (options, error) {
	o := defaults()
	if err := sdk.ReadOptions(text, &o); err != nil {
		return o, err
	}
	err := cmp.Or(
		option.In("startup", float64(o.Startup), 1, math.MaxInt32),
		option.In("candidates", float64(o.Candidates), 1, 10_000),
		option.In("gamma", o.Gamma, 0.001, 1),
		option.In("max_good", float64(o.MaxGood), 1, maxGood),
		option.In("prior_weight", o.PriorWeight, 0.001, 1000),
		option.In("bandwidth", o.Bandwidth, 0.001, 10),
	)
	return o, err
}

// good is how many of n trials with finite results are good.
func (o *options) good(n int) int {
	return min(int(math.Ceil(o.Gamma*float64(n))), o.MaxGood)
}
