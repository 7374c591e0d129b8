package cmaes

import (
	"cmp"
	"fmt"
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
      "type": "integer", "minimum": 1, "maximum": 2147483647, "default": 16,
      "description": "How many trials have finished with a finite result before the search begins around the best third of them; until then points are spread evenly. Set it to the number of trials that are known already to begin with what they found."
    },
    "sigma": {
      "type": "number", "minimum": 0.0001, "maximum": 1, "default": 0.17,
      "description": "The standard deviation at the beginning, as a share of a parameter's range."
    },
    "population": {
      "type": "integer", "minimum": 0, "maximum": 100000, "default": 0,
      "description": "How many trials a generation has, at least 3; 0: 4 and three times the logarithm of the number of parameters. More is more robust and slower."
    },
    "adapt": {
      "type": "boolean", "default": false,
      "description": "Whether learning rates adapt to how clear the direction is: for noisy or rugged objectives and at least a thousand trials."
    },
    "restarts": {
      "type": "boolean", "default": true,
      "description": "Whether, when nothing more is to be found near, the search begins again elsewhere with generations of twice the size."
    },
    "repeats": {
      "type": "boolean", "default": false,
      "description": "Whether a point of a finite space may be suggested again."
    }
  }
}`

type options struct {
	Startup    int     `json:"startup"`
	Sigma      float64 `json:"sigma"`
	Population int     `json:"population"`
	Adapt      bool    `json:"adapt"`
	Restarts   bool    `json:"restarts"`
	Repeats    bool    `json:"repeats"`
}

func defaults() options { return options{Startup: 16, Sigma: 0.17, Restarts: true} }

// readOptions reads what the schema describes.
func readOptions(text []byte) (options, error) {
	o := defaults()
	if err := sdk.ReadOptions(text, &o); err != nil {
		return o, err
	}
	err := cmp.Or(
		option.In("startup", float64(o.Startup), 1, math.MaxInt32),
		option.In("sigma", o.Sigma, 0.0001, 1),
		option.In("population", float64(o.Population), 0, 100_000),
	)
	if err == nil && (o.Population == 1 || o.Population == 2) {
		return o, fmt.Errorf("option %q is %d; allowed: 0, or integers from 3 to 100000", "population", o.Population)
	}
	return o, err
}
