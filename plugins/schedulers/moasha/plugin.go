package moasha

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	milestones "github.com/tunehost/tunehost/plugins/schedulers/internal/rung"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "moasha",
		Version: "1.0.0",
		Summary: "Asynchronous successive halving for several objectives, by layers of non-dominated trials.",
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
    "objectives": {
      "type": "array", "items": {"type": "string"}, "default": [],
      "description": "the metrics that are compared; empty: all objectives"
    }
  }
}`

type options struct {
	Max        uint64   `json:"max"`
	Grace      uint64   `json:"grace"`
	Factor     uint64   `json:"reduction_factor"`
	Objectives []string `json:"objectives"`
}

// factor is small enough to divide by.
func (o options) factor() int { return int(min(o.Factor, math.MaxInt32)) }

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Max: 100, Grace: 1, Factor: 3}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if err := o.check(); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, err := choose(p, o.Objectives)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	at := milestones.Ladder(o.Grace, o.Max, o.Factor)
	return &scheduler{options: o, objectives: compared, at: at, rungs: make([]rung, len(at))}, sdk.Traits{RunAhead: 1}, nil
}

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

func (o options) check() error {
	switch {
	case o.Max < 1 || o.Max > maxIterations:
		return fmt.Errorf("option max: %d is not in 1..2^53", o.Max)
	case o.Grace < 1 || o.Grace > o.Max:
		return fmt.Errorf("option grace: %d is not in 1..max, which is %d", o.Grace, o.Max)
	case o.Factor < 2:
		return fmt.Errorf("option reduction_factor: %d is not 2 or more", o.Factor)
	}
	return nil
}

// choose finds the objectives that are compared: those named, or all.
func choose(p sdk.Problem, names []string) (all []objective.Objective, _ error) {
	if len(names) == 0 {
		for _, o := range p.Objectives {
			names = append(names, o.Metric)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		o, err := objective.Choose(p, name)
		switch {
		case name == "":
			return nil, fmt.Errorf("option objectives: an empty name")
		case seen[name]:
			return nil, fmt.Errorf("option objectives: %q is named twice", name)
		case err != nil:
			return nil, errors.New(strings.Replace(err.Error(), "option objective:", "option objectives:", 1))
		}
		seen[name] = true
		all = append(all, o)
	}
	return all, nil
}
