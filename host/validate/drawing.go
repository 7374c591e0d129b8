package validate

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/plugins/sdk"
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

// trainable asks a bundled trainable whether it could train with parameters of the space. It returns an error if that
// refuses each that is tried, as an unknown parameter: every trial would fail.
func trainable(o *options.Options, e *config.Experiment) (err error) {
	if e.Trainable == nil {
		return nil
	}
	if e.Trainable.Plugin == nil {
		return command(o, e)
	}
	ref := e.Trainable.Plugin
	p, bundled := o.Plugins.Lookup(sdk.KindTrainable, ref.Name).(sdk.TrainablePlugin)
	if !bundled || p.Check == nil {
		return nil
	}
	for n := range uint64(draws) {
		draw := seeds.For(0, seeds.Suggestion, n)
		point, drawn := e.Space.Sample(space.NewRand(draw))
		if drawn != nil {
			return nil
		}
		params, unresolved := e.Prune(point).Resolve(draw)
		if unresolved != nil {
			continue // computable says so
		}
		if err = p.Check(ref.Options, params); err == nil {
			return nil
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: trainable %q cannot train with this space: %w", e.PosOf("space"), ref.Name, err)
}

// command asks the trainable of commands whether it takes what the file says of the program.
func command(o *options.Options, e *config.Experiment) error {
	if o.Mode.Manual || o.Mode.Virtual {
		return nil
	}
	opener := &opening.Opener{Experiment: e, BaseDir: filepath.Dir(e.File)}
	ref, written, err := opener.TrainableRef()
	if err != nil {
		return err
	}
	p, bundled := o.Plugins.Lookup(sdk.KindTrainable, ref.Name).(sdk.TrainablePlugin)
	if !bundled || p.Check == nil {
		return nil
	}
	return config.At(e.PosOf("trainable"), p.Check(written, nil))
}
