package needs

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// requestDraws is how many points Requestable tries: parameters that exist at some points only are found.
const requestDraws = 64

// Requestable computes what trials need at points of the space, and returns an error if that fails at one: the
// experiment would end at such a trial.
func Requestable(e *config.Experiment) error {
	if len(e.Computed) == 0 {
		return nil
	}
	for n := range uint64(requestDraws) {
		draw := seeds.For(0, seeds.Suggestion, n)
		p, drawn := e.Space.Sample(space.NewRand(draw))
		if drawn != nil {
			return nil
		}
		params, err := e.Prune(p).Resolve(draw)
		if err != nil {
			continue // computable says so
		}
		_, err = request.For(e, params)
		if errors.Is(err, expr.ErrUnknownValue) {
			return fmt.Errorf("%w; some trials lack a value, such as %s: say what they need, too, as in "+
				"CONDITION ? a : b", err, params)
		}
		if err != nil {
			return fmt.Errorf("%w; this is what a trial with %s needs", err, params)
		}
	}
	return nil
}
