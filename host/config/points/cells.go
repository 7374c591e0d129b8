package points

import (
	"errors"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Limits of the search for combinations that can be. A larger grid is refused; records from before have the
// others, too.
const (
	mostSteps  = 1 << 20 // parameters of combinations
	mostTried  = 1 << 14 // combinations at which something is drawn that only the host can check
	mostLooked = 1 << 16 // combinations at which something is looked at that only the host can check
	mostInVain = 64      // combinations for which nothing was found: each takes thousands of draws
	mostDraws  = 1000    // draws for a combination that only the host can check
)

// cells are the combinations of the grid that trials have, each at its place on a walk over them.
type cells struct {
	s    *space.Space
	some bool     // not all are in the list
	many bool     // there are too many to tell which they are
	list []uint64 // their numbers, see [space.Space.Cells]
	size uint64
}

// cellsOf leaves out what conditions and constraints rule out, and the repetitions of a combination whose axes do not
// all exist.
func cellsOf(e *config.Experiment) cells {
	all := cells{s: e.Space, size: GridSize(e.Space)}
	if !e.PlansWhatCanBe || !hasGrid(e.Space) || isEven(e.Space) {
		return all
	}
	if e.PlansWithinLimits {
		return told(e, all)
	}
	list, ok := e.Space.Cells(nil, mostSteps)
	if !ok {
		return all
	}
	list = possible(e, list)
	return cells{s: e.Space, some: true, list: list, size: uint64(len(list))}
}

// told leaves out combinations as long as that is no endless work.
func told(e *config.Experiment, all cells) cells {
	list, ok := e.Space.PossibleCells(nil, mostSteps)
	if ok {
		list, ok = allowed(e, list)
	}
	if all.many = !ok; all.many {
		return all
	}
	return cells{s: e.Space, some: true, list: list, size: uint64(len(list))}
}

// allowed returns the combinations for which a point is found; false: that takes too long. Where nothing but the grid
// varies, the space itself has told them, unless only the host can: then a look at each is enough.
func allowed(e *config.Experiment, list []uint64) (found []uint64, ok bool) {
	if !e.Space.Opaque && (len(e.Constraints) == 0 || isAlone(e.Space)) {
		return list, true
	}
	alone, same, seen := isSingle(e), e.Space.Opaque && isAlone(e.Space), map[string]bool{}
	if e.Space.Opaque && (len(list) > mostLooked || len(list) > mostTried && !alone) {
		return nil, false
	}
	for vain := mostInVain; len(list) > 0; list = list[1:] {
		p := looked(e, list[0], alone)
		switch {
		case p == nil && !alone:
			if vain--; vain < 0 {
				return nil, false
			}
		case p == nil || same && seen[e.Space.Key(p)]:
		default:
			found, seen[e.Space.Key(p)] = append(found, list[0]), true
		}
	}
	return found, true
}

// looked returns the point of a combination, or a drawn one; nil: there is none.
func looked(e *config.Experiment, cell uint64, alone bool) space.Point {
	if !alone {
		return drawn(e, cell)
	}
	draw := seeds.For(0, seeds.Suggestion, cell)
	p := e.Space.Complete(gridPoint(e.Space, cell), e.Space.Draw(space.NewRand(draw)))
	if !e.Space.Holds(p) {
		return nil
	}
	if _, err := e.Prune(p).Resolve(draw); errors.Is(err, config.ErrRefused) {
		return nil
	}
	return p
}

// isEven reports whether each combination of the grid is one: nothing rules any out.
func isEven(s *space.Space) bool {
	conditional := func(p space.Param) bool { return p.Grid && p.When != nil }
	return !s.Opaque && len(s.Constraints) == 0 && !slices.ContainsFunc(s.Params, conditional)
}

// possible returns the combinations for which draws of the other parameters find a point. Where only the host can
// evaluate conditions, and nothing else varies, it leaves out those that are the same without what does not exist.
func possible(e *config.Experiment, list []uint64) (found []uint64) {
	if len(e.Constraints) == 0 && !e.Space.Opaque || e.Space.Opaque && len(list) > mostTried {
		return list
	}
	alone, seen, vain := isAlone(e.Space), map[string]bool{}, 0
	for i, cell := range list {
		if vain == mostInVain {
			return append(found, list[i:]...)
		}
		p := drawn(e, cell)
		if p == nil {
			vain++
			continue
		}
		if key := e.Space.Key(p); e.Space.Opaque && alone {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		found = append(found, cell)
	}
	return found
}

// drawn returns a point with a combination, or nil if none is found.
func drawn(e *config.Experiment, cell uint64) space.Point {
	given := gridPoint(e.Space, cell)
	for try := range draws(e) {
		draw := seeds.Again(seeds.For(0, seeds.Suggestion, cell), try)
		p, err := e.Space.SampleGiven(space.NewRand(draw), given)
		if err != nil {
			return nil
		}
		if !e.Space.Opaque {
			return p
		}
		if _, err = e.Prune(p).Resolve(draw); !errors.Is(err, config.ErrRefused) {
			return p
		}
	}
	return nil
}

// draws is how often a combination is drawn. Records from before keep what they had.
func draws(e *config.Experiment) uint64 {
	if e.PlansWithinLimits {
		return mostDraws
	}
	return config.MaxTries
}

// isSingle reports whether a combination is one point, at which no constraint is random: they hold there or not.
func isSingle(e *config.Experiment) bool {
	return hasGrid(e.Space) && isAlone(e.Space) && !e.DrawsAgain
}

// isAlone reports whether nothing but the grid varies.
func isAlone(s *space.Space) bool {
	for i := range s.Params {
		if axis, ok := s.Axis(i); !s.Params[i].Grid && (!ok || axis.Count > 1) {
			return false
		}
	}
	return true
}

// point returns the coordinates of the combination at a place; the walk begins again at its end.
func (c *cells) point(at uint64) space.Point {
	switch {
	case !c.some:
		return gridPoint(c.s, at)
	case c.size == 0:
		return nil
	}
	return gridPoint(c.s, c.list[at%c.size])
}

// place returns the place of the combination of a point that has a value for each axis of the grid; false: it has none.
func (c *cells) place(p space.Point) (at uint64, ok bool) {
	if !c.some {
		return gridIndex(c.s, p), true
	}
	same, _ := c.s.Cells(p, mostSteps)
	if len(same) != 1 {
		return 0, false
	}
	i, ok := slices.BinarySearch(c.list, same[0])
	return uint64(i), ok
}
