package pbtreplay

import (
	"encoding/json"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pbt-replay",
		Version: "1.1.0",
		Summary: "Trains by a schedule of parameters, such as one that pbt has found.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "policy": {
      "type": "array", "default": [],
      "description": "from which iteration on which parameters change, and to what",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["iteration", "params"],
        "properties": {
          "iteration": {"type": "integer", "minimum": 1},
          "params": {"type": "object"}
        }
      }
    }
  }
}`

type options struct {
	Policy []struct {
		Iteration uint64          `json:"iteration"`
		Params    json.RawMessage `json:"params"`
	} `json:"policy"`
}

// entry is a change of parameters.
type entry struct {
	iteration uint64
	params    space.Point // NaN where nothing changes
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	var o options
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	policy, err := o.entries(p.Space)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{space: p.Space, policy: policy}, sdk.Traits{Saves: true}, nil
}

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

func (o options) entries(s *space.Space) (all []entry, _ error) {
	last := uint64(0)
	for i, e := range o.Policy {
		if e.Iteration <= last || e.Iteration > maxIterations {
			return nil, fmt.Errorf("option policy: entry %d is at iteration %d; iterations begin at 1 and rise", i+1, e.Iteration)
		}
		params, err := s.Encode(e.Params)
		if err == nil {
			err = s.CheckGiven(params)
		}
		if err != nil {
			return nil, fmt.Errorf("option policy: entry %d: %w", i+1, err)
		}
		last = e.Iteration
		all = append(all, entry{e.Iteration, params})
	}
	return all, nil
}
