package fifo

import (
	"context"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "fifo",
		Version: "1.0.0",
		Summary: "Lets every trial train to its end, in the order of creation.",
		Options: declared.Schema(),
	},
	Open: open,
}

// declared has no options.
var declared = option.Declare(func(*struct{}) []option.Option { return nil })

// runAhead is large, because no result needs a decision.
const runAhead = 16

func open(_ sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
	if _, err := declared.Read(options); err != nil {
		return nil, sdk.Traits{}, err
	}
	return scheduler{}, sdk.Traits{Quiet: true, RunAhead: runAhead}, nil
}

type scheduler struct{}

func (scheduler) Decide(context.Context, []sdk.Event) (sdk.Decisions, error) {
	return sdk.Decisions{}, nil
}
