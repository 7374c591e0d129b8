package pb2

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Plugin is the scheduler to be served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "pb2",
		Version: "1.2.0",
		Summary: "Population based bandits: the worst continue from the best, with values that a model chooses.",
		Options: declared.Schema(),
	},
	Open: open,
}

type options struct {
	evolve.Options
	Model []string
}

var declared = option.Declare(func(o *options) []option.Option {
	return o.Declare(option.Of("model", &o.Model, nil, option.List(option.Text()),
		"Names of the numeric parameters that the model chooses; empty: all that may change and always exist."))
})

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o, err := declared.Read(data)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, explores, err := o.Prepare(p)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	b := &bandit{Perturber: explores, interval: float64(o.Interval), last: map[uint32]evolve.Standing{}}
	if b.modelled, err = modelled(explores, o.Model); err != nil {
		return nil, sdk.Traits{}, err
	}
	return evolve.New(p, o.Options, compared, b), evolve.Traits, nil
}

// modelled returns the parameters that the model chooses.
func modelled(x *evolve.Perturber, names []string) (all []int, _ error) {
	seen := map[string]bool{}
	for i, p := range x.Space.Params {
		number := p.Kind == space.Real || p.Kind == space.Int || p.Kind == space.Normal
		chosen := number && p.When == nil && x.Free[i]
		if slices.Contains(names, p.Name) && !chosen {
			return nil, fmt.Errorf("option model: %q is not a number that always exists and may change", p.Name)
		}
		if seen[p.Name] = true; chosen && (len(names) == 0 || slices.Contains(names, p.Name)) {
			all = append(all, i)
		}
	}
	for _, name := range names {
		if !seen[name] {
			return nil, fmt.Errorf("option model: %q is not a parameter of the space", name)
		}
	}
	return all, nil
}
