package fifo

import (
	"context"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "fifo",
		Version: "1.0.0",
		Summary: "Lets every trial train to its end, in the order of creation.",
		Options: []byte(schema),
	},
	Open: open,
}

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {}
}`

// runAhead is plenty: nothing that a trial reports is ever decided.
const runAhead = 16

func open(_ sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
	if err := option.Decode(options, &struct{}{}); err != nil {
		return nil, sdk.Traits{}, err
	}
	return scheduler{}, sdk.Traits{Quiet: true, RunAhead: runAhead}, nil
}

type scheduler struct{}

func (scheduler) Decide(context.Context, []sdk.Event) (sdk.Decisions, error) {
	return sdk.Decisions{}, nil
}
