package validate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// How many points are looked at.
const (
	draws      = 8   // with which something is tried
	mostDraws  = 500 // by computable
	mostPoints = 100 // of the user, by computable
)

// computable computes the parameters that are expressions, at points of the space. It returns an error if that fails at
// one: the experiment would end at such a trial (B-108).
func computable(e *config.Experiment) error {
	for i, p := range e.Points[:min(len(e.Points), mostPoints)] {
		draw := seeds.For(0, seeds.Point, uint64(i))
		if err := computableAt(e, e.Space.Complete(p.Given, e.Space.Draw(space.NewRand(draw))), draw); err != nil {
			return p.Fault(err)
		}
	}
	if err := possible(e); err != nil || onlyPoints(e) {
		return err
	}
	for n := range uint64(mostDraws) {
		draw := seeds.For(0, seeds.Suggestion, n)
		p := drawn(e, n, draw)
		if err := cmp.Or(computableAt(e, p, draw), resolvable(e, n, p, draw)); err != nil {
			return err
		}
	}
	return nil
}

// possible returns an error if a point of the user has a value for what never exists with it.
func possible(e *config.Experiment) error {
	if len(e.Points) == 0 {
		return nil
	}
	plan := points.NewPlan(e)
	for i, p := range e.Points[:min(len(e.Points), mostPoints)] {
		var absent points.AbsentError
		if _, err := plan.Trial(0, i); errors.As(err, &absent) {
			return p.Fault(err)
		}
	}
	return nil
}

// resolvable also evaluates constraints, at the first points: each may take long.
func resolvable(e *config.Experiment, n uint64, p space.Point, draw uint64) error {
	if p == nil || n >= draws {
		return nil
	}
	if _, err := e.Resolve(p, draw); !errors.Is(err, config.ErrRefused) {
		return err
	}
	return nil
}

// computableAt is computable at one point, unless constraints rule it out.
func computableAt(e *config.Experiment, p space.Point, draw uint64) error {
	if p == nil || !e.Space.Holds(p) {
		return nil
	}
	return e.Uncomputable(p, draw)
}

// drawn returns a point of the space, or nil: hardly any is allowed, which another check says. Only the first are drawn
// until the constraints hold, which may take long.
func drawn(e *config.Experiment, n, draw uint64) space.Point {
	rng := space.NewRand(draw)
	if n >= draws {
		return e.Space.Complete(e.Space.Draw(rng))
	}
	p, err := e.Space.Sample(rng)
	if err != nil {
		return nil
	}
	return p
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
