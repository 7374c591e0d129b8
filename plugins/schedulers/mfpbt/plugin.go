package mfpbt

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/schedulers/internal/evolve"
	"github.com/tunehost/tunehost/plugins/schedulers/internal/option"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the scheduler as it is served.
var Plugin = sdk.SchedulerPlugin{
	Info: sdk.Info{
		Kind:    sdk.KindScheduler,
		Name:    "mf-pbt",
		Version: "1.1.0",
		Summary: "Population based training in sub-populations that evolve at several frequencies.",
		Options: evolve.Schema(own),
	},
	Open: open,
}

const own = `    "periods": {
      "type": "array", "minItems": 1, "maxItems": 64, "default": [1, 2, 4, 8],
      "items": {"type": "integer", "minimum": 1},
      "description": "a sub-population for each: it evolves at each so-many-th comparison; they grow"
    },
`

type options struct {
	evolve.Options
	Periods []uint64 `json:"periods"`
}

const (
	maxGroups = 64
	maxPeriod = 1 << 53 // the largest number that every language's float64 counts to
)

func open(p sdk.Problem, data []byte) (sdk.Scheduler, sdk.Traits, error) {
	o := options{Options: evolve.Defaults()}
	if err := option.Decode(data, &o); err != nil {
		return nil, sdk.Traits{}, err
	}
	if o.Periods == nil {
		o.Periods = []uint64{1, 2, 4, 8}
	}
	if err := check(o.Periods); err != nil {
		return nil, sdk.Traits{}, err
	}
	compared, explores, err := o.Prepare(p)
	if err != nil {
		return nil, sdk.Traits{}, err
	}
	return evolve.Divided(p, o.Options, o.Periods, compared, explores), evolve.Traits, nil
}

func check(periods []uint64) error {
	switch {
	case len(periods) == 0:
		return errors.New("option periods: want at least one")
	case len(periods) > maxGroups:
		return fmt.Errorf("option periods: want at most %d", maxGroups)
	}
	last := uint64(0)
	for _, p := range periods {
		if p <= last || p > maxPeriod {
			return fmt.Errorf("option periods: %d after %d: want them to grow, from 1 to 2^53", p, last)
		}
		last = p
	}
	return nil
}
