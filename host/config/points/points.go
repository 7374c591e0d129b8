// Package points turns points into trials: a searcher's suggestions, the user's partial points, and a
// scheduler's changes. The experiment file gives the rules, the experiment's seed the random numbers.
package points

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Suggest turns a searcher's point into a trial, or says why that fails (B-107).
func Suggest(e *config.Experiment, seed, index uint64, p space.Point) (core.Suggestion, error) {
	params, _, err := suggested(e, seed, index, p)
	return core.Suggestion{Params: params}, err
}

// suggested also returns the point of the trial, which is another one if p is refused.
func suggested(e *config.Experiment, seed, index uint64, p space.Point) ([]byte, space.Point, error) {
	if len(p) != len(e.Space.Params) {
		return nil, nil, fmt.Errorf("it has length %d, expected %d, one for each parameter", len(p),
			len(e.Space.Params))
	}
	existing := e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return nil, nil, err
	}
	draw := seeds.For(seed, seeds.Suggestion, index)
	params, err := existing.Resolve(draw)
	for try := uint64(1); errors.Is(err, config.ErrRefused) && try < refusals(e); try++ {
		if p, err = e.Space.SampleGiven(space.NewRand(seeds.Again(draw, try)), kept(e, p)); err != nil {
			break
		}
		params, err = e.Prune(p).Resolve(e.SeedOf(draw, try))
	}
	return params, p, tight(e, err)
}

// refusals is how often a refused point is drawn. Records of earlier reading rules keep what they had.
func refusals(e *config.Experiment) uint64 {
	if !e.PlansWhatCanBe {
		return 100
	}
	return config.MaxTries
}

// tight says of a refusal that no point was found in all draws.
func tight(e *config.Experiment, err error) error {
	if e.PlansWhatCanBe && errors.Is(err, config.ErrRefused) {
		return fmt.Errorf("%w (of the last draw: %w)", space.ErrTight, err)
	}
	return err
}

// Possible draws points until one satisfies the constraints, also those that only the host can check. The error is
// [space.ErrTight]. Of a grid nothing is drawn: its [Plan] tells, for each combination.
func Possible(e *config.Experiment) error {
	if e.PlansWithinLimits && hasGrid(e.Space) {
		return nil
	}
	p, err := e.Space.Sample(space.NewRand(0))
	if err != nil || !e.Space.Opaque {
		return err
	}
	if _, err = Suggest(e, 0, 0, p); errors.Is(err, space.ErrTight) {
		return err
	}
	return nil // what cannot be computed is no matter of constraints
}

// kept returns the coordinates of a refused point that another one has, too: its combination of the grid.
func kept(e *config.Experiment, p space.Point) space.Point {
	if !e.PlansWhatCanBe {
		return nil
	}
	p = slices.Clone(p)
	for i := range p {
		if !e.Space.Params[i].Grid {
			p[i] = math.NaN()
		}
	}
	return p
}

// Complete turns a user's point into a trial; it draws the values that are not given, such that those exist that are
// (B-104).
func Complete(e *config.Experiment, seed, index uint64, given space.Point) (core.Suggestion, error) {
	return completed(e, seed, index, wish{given, given, nil})
}

// Changed is [Complete] for a point that is made of another trial's. The trial keeps that one's random values, where
// nothing that they depend on has changed.
func Changed(e *config.Experiment, seed, index uint64, given space.Point, like []byte) (core.Suggestion, error) {
	return completed(e, seed, index, wish{given, given, like})
}

// wish is what a trial must have.
type wish struct {
	// given are its coordinates; NaN where they are drawn. Those of wanted must exist.
	given, wanted space.Point
	// like are the parameters of the trial of which it is made; nil: there is none.
	like []byte
}

// AbsentError is the name of a parameter for which a value is given, and that exists at no point that was drawn.
type AbsentError string

// Error implements error in one line.
func (x AbsentError) Error() string {
	return string(x) + " does not exist at any of the points that were drawn with what is given, because its " +
		"condition (when) does not hold: give what it depends on, too"
}

// absent is the error of a point that lacks a value which is wanted; nil: it has them all.
func (w *wish) absent(e *config.Experiment, p space.Point) error {
	for i, x := range w.wanted {
		if !math.IsNaN(x) && math.IsNaN(p[i]) {
			return AbsentError(e.Space.Params[i].Name)
		}
	}
	return nil
}

func completed(e *config.Experiment, seed, index uint64, w wish) (core.Suggestion, error) {
	draw := seeds.For(seed, seeds.Point, index)
	rng, varies := space.NewRand(draw), e.DrawsAgain || slices.ContainsFunc(w.given, math.IsNaN)
	var refused error
	for try := range uint64(config.MaxTries) {
		p, err := e.Space.SampleGiven(rng, w.given)
		if err != nil {
			return core.Suggestion{}, err
		}
		existing := e.Prune(p)
		if absent := w.absent(e, p); absent != nil && varies {
			refused = absent
			continue
		}
		params, err := existing.Like(w.like).Resolve(e.SeedOf(draw, try))
		if !errors.Is(err, config.ErrRefused) || !e.PlansWhatCanBe || !varies {
			return core.Suggestion{Params: params}, err
		}
		refused = err
	}
	return core.Suggestion{}, tight(e, refused)
}

// Exploit is a scheduler's order that a trial continues with other parameters.
type Exploit struct {
	// Point are these parameters. They must lie in the space like a searcher's.
	Point space.Point
	Trial uint32
	// Through is the number of the last event that the scheduler had heard.
	Through uint64
	// Donor are the parameters of the trial from whose checkpoint it continues; nil: they are not known.
	Donor []byte
}

// Exploited returns the parameters of a trial that continues with others. It keeps the donor's random values, where
// nothing that they depend on has changed, unless a constraint refuses them.
func Exploited(e *config.Experiment, seed uint64, x Exploit) ([]byte, error) {
	if len(x.Point) != len(e.Space.Params) {
		return nil, fmt.Errorf("its point has length %d, expected %d, one for each parameter", len(x.Point),
			len(e.Space.Params))
	}
	p := slices.Clone(x.Point)
	e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return nil, err
	}
	if !e.KeepsDraws {
		return e.ResolveGiven(p, seed)
	}
	draw := seeds.Again(seeds.For(seed, seeds.Exploit, x.Through), uint64(x.Trial))
	params, err := e.Prune(p).Like(x.Donor).Resolve(draw)
	if errors.Is(err, config.ErrRefused) {
		return e.ResolveGiven(p, draw)
	}
	return params, err
}
