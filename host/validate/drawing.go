package validate

import (
	"errors"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// draws is how many points computable tries.
const draws = 8

// computable tries to compute the parameters that are expressions, at points of the space. It returns an error if that
// fails at each of them; where it fails depends on the other parameters, at some.
func computable(e *config.Experiment) (err error) {
	for n := range uint64(draws) {
		draw := seeds.For(0, seeds.Suggestion, n)
		p, drawn := e.Space.Sample(space.NewRand(draw))
		if drawn != nil {
			return nil // hardly any point is allowed: another check says so
		}
		if _, err = e.Prune(p).Resolve(draw); err == nil || errors.Is(err, config.ErrRefused) {
			return nil
		}
	}
	return err
}
