// Package points makes trials of points: of what a searcher suggests, of what the
// user gives in part, of what a scheduler changes. The file says how, and the
// experiment's seed what is drawn.
package points

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxRefusals is how often a point that only the host can refuse is drawn anew.
const maxRefusals = 100

// Suggest makes a trial of a searcher's point, or says why it cannot be one
// (B-107).
func Suggest(e *config.Experiment, seed, index uint64, p space.Point) (core.Suggestion, error) {
	if len(p) != len(e.Space.Params) {
		return core.Suggestion{}, fmt.Errorf("it has %d values, the space has %d parameters", len(p), len(e.Space.Params))
	}
	existing := e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return core.Suggestion{}, err
	}
	draw := seeds.For(seed, seeds.Suggestion, index)
	params, err := existing.Resolve(draw)
	for try := uint64(1); errors.Is(err, config.ErrRefused) && try < maxRefusals; try++ {
		if p, err = e.Space.Sample(space.NewRand(seeds.Again(draw, try))); err != nil {
			break
		}
		params, err = e.Prune(p).Resolve(draw)
	}
	return core.Suggestion{Params: params}, err
}

// Complete makes a trial of a user's point: as given, and drawn where nothing
// was given (B-104).
func Complete(e *config.Experiment, seed, index uint64, given space.Point) (core.Suggestion, error) {
	rng := space.NewRand(seeds.For(seed, seeds.Point, index))
	p, err := e.Space.SampleGiven(rng, given)
	if err != nil {
		return core.Suggestion{}, err
	}
	params, err := e.Prune(p).Resolve(seeds.For(seed, seeds.Point, index))
	return core.Suggestion{Params: params}, err
}

// Exploited are the parameters of a scheduler's point, which must lie in the
// space like a searcher's.
func Exploited(e *config.Experiment, seed uint64, p space.Point) ([]byte, error) {
	if len(p) != len(e.Space.Params) {
		return nil, fmt.Errorf("its point has %d values, the space has %d parameters", len(p), len(e.Space.Params))
	}
	p = slices.Clone(p)
	existing := e.Prune(p)
	if err := e.Space.Check(p); err != nil && !e.Space.Opaque {
		return nil, err
	}
	return existing.Resolve(seed)
}

// Requests are what a question means to the searcher: grid axes are given.
func Requests(sp *space.Space, seed uint64, a core.AskSearcher) []sdk.Request {
	list := make([]sdk.Request, a.Count)
	for i := range list {
		n := a.First + uint64(i)
		list[i] = sdk.Request{Trial: uint32(n), Seed: seeds.For(seed, seeds.Suggestion, n), Given: GridPoint(sp, n)}
	}
	return list
}
