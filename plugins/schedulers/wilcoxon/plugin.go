package wilcoxon

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/objective"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "wilcoxon",
		Version: "1.0.0",
		Summary: "Stops trials that a signed-rank test finds worse than the best on the same folds.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "p_threshold": {
      "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.1,
      "description": "a trial is stopped when the test's p is below this"
    },
    "startup_folds": {
      "type": "integer", "minimum": 1, "default": 2,
      "description": "folds that must be compared before a trial is stopped"
    },
    "objective": {
      "type": "string", "default": "",
      "description": "the metric that is compared; needed when there are several objectives"
    }
  }
}`

type options struct {
	Threshold float64 `json:"p_threshold"`
	Startup   int     `json:"startup_folds"`
	Objective string  `json:"objective"`
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Threshold: 0.1, Startup: 2}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	switch {
	case !(o.Threshold > 0 && o.Threshold <= 1):
		return nil, sdk.Traits{}, fmt.Errorf("option p_threshold: %v is not above 0 and at most 1", o.Threshold)
	case o.Startup < 1:
		return nil, sdk.Traits{}, fmt.Errorf("option startup_folds: %d is not 1 or more", o.Startup)
	}
	compared, err := objective.Choose(p, o.Objective)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{options: o, objective: compared}, sdk.Traits{RunAhead: 1}, nil
}
