package evolve

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Options are those that do not depend on how parameters are explored.
type Options struct {
	Interval  uint64  `json:"interval"`
	BurnIn    uint64  `json:"burn_in"`
	Max       uint64  `json:"max"`
	Quantile  float64 `json:"quantile"`
	Sync      bool    `json:"sync"`
	Objective string  `json:"objective"`
}

// Defaults are the options where nothing is said.
var Defaults = Options{Interval: 10, Quantile: 0.25}

// maxIterations is the largest number that every language's float64 counts to.
const maxIterations = 1 << 53

// Check says what is wrong with the options, if anything.
func (o Options) Check(p sdk.Problem) error {
	switch {
	case o.Interval < 1 || o.Interval > maxIterations:
		return fmt.Errorf("option interval: %d is not in 1..2^53", o.Interval)
	case o.BurnIn > maxIterations:
		return fmt.Errorf("option burn_in: %d is not in 0..2^53", o.BurnIn)
	case !(o.Quantile > 0 && o.Quantile <= 0.5):
		return fmt.Errorf("option quantile: %v is not above 0 and at most 0.5", o.Quantile)
	case o.Sync && p.Trials == 0:
		return errors.New("option sync: the trials can only wait for each other when their number is planned: set trials")
	}
	return nil
}
