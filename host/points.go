package host

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// pointOf finds the point of a trial's parameters again.
func pointOf(s *space.Space, params []byte) (space.Point, error) {
	v, err := expr.FromJSON(params)
	if err != nil {
		return nil, err
	}
	p := make(space.Point, len(s.Params))
	for i := range p {
		p[i] = math.NaN()
		if x, ok := config.Lookup(v, s.Params[i].Name); ok {
			if p[i], err = coordinate(&s.Params[i], x); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func coordinate(p *space.Param, v any) (float64, error) {
	if p.Kind == space.Choice || p.Kind == space.Ordinal {
		for i := range p.Choices {
			if reflect.DeepEqual(expr.Choice(p, i), v) {
				return float64(i), nil
			}
		}
	}
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("parameter %q: %v is not of the space", p.Name, v)
}

// maxRefusals is how often a point that only the host can refuse is drawn anew.
const maxRefusals = 100

// suggest makes a trial of a searcher's point, or says why it cannot be one
// (B-107).
func suggest(e *config.Experiment, seed, index uint64, p space.Point) (core.Suggestion, error) {
	if len(p) != len(e.Space.Params) {
		return core.Suggestion{}, fmt.Errorf("it has %d values, the space has %d parameters", len(p), len(e.Space.Params))
	}
	e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return core.Suggestion{}, err
	}
	draw := seedFor(seed, forSuggestion, index)
	params, err := e.Resolve(p, draw)
	for try := uint64(1); errors.Is(err, config.ErrRefused) && try < maxRefusals; try++ {
		if p, err = e.Space.Sample(space.NewRand(mix(draw + try))); err != nil {
			break
		}
		e.Prune(p)
		params, err = e.Resolve(p, draw)
	}
	return core.Suggestion{Params: params}, err
}

// complete makes a trial of a user's point: as given, and drawn where nothing
// was given (B-104).
func complete(e *config.Experiment, seed, index uint64, given space.Point) (core.Suggestion, error) {
	rng := space.NewRand(seedFor(seed, forPoint, index))
	p, err := e.Space.SampleGiven(rng, given)
	if err != nil {
		return core.Suggestion{}, err
	}
	e.Prune(p)
	params, err := e.Resolve(p, seedFor(seed, forPoint, index))
	return core.Suggestion{Params: params}, err
}

// exploited are the parameters of a scheduler's point, which must lie in the
// space like a searcher's.
func exploited(e *config.Experiment, seed uint64, p space.Point) ([]byte, error) {
	if len(p) != len(e.Space.Params) {
		return nil, fmt.Errorf("its point has %d values, the space has %d parameters", len(p), len(e.Space.Params))
	}
	p = slices.Clone(p)
	e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return nil, err
	}
	return e.Resolve(p, seed)
}
