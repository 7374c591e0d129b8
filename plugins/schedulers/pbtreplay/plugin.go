package pbtreplay

import (
	"encoding/json"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pbt-replay",
		Version: "1.1.0",
		Summary: "Trains with a schedule of parameters, such as one found by pbt.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct{ Policy []change }

// A change sets parameters from an iteration on.
type change struct {
	Iteration uint64
	Params    json.RawMessage
}

var declared = option.Declare(func(o *options) []option.Option {
	return []option.Option{
		option.Of("policy", &o.Policy, nil, option.List(option.Object(declareChange)),
			"The changes: from an iteration on, these parameters have new values; the others stay."),
	}
})

func declareChange(c *change) []option.Option {
	return []option.Option{
		option.Int("iteration", &c.Iteration, 0, option.From(1), "The iteration.").Required(),
		option.Of("params", &c.Params, nil, option.Raw("object"),
			"The new values of the changed parameters.").Required(),
	}
}

// entry is a change of parameters.
type entry struct {
	iteration uint64
	params    space.Point // NaN for unchanged parameters
}

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	policy, err := o.entries(p.Space)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return &scheduler{space: p.Space, policy: policy}, sdk.Traits{Saves: true}, nil
}

func (o options) entries(s *space.Space) (all []entry, _ error) {
	last := uint64(0)
	for i, e := range o.Policy {
		if e.Iteration <= last {
			name := fmt.Sprintf("policy.%d.iteration", i)
			return nil, option.Wrong(name, e.Iteration, "more than %d, that of the one before", last)
		}
		params, err := s.Encode(e.Params)
		if err == nil {
			err = s.CheckGiven(params)
		}
		if err != nil {
			return nil, fmt.Errorf("option \"policy.%d.params\": %w", i, err)
		}
		last = e.Iteration
		all = append(all, entry{e.Iteration, params})
	}
	return all, nil
}
