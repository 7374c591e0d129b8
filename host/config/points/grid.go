package points

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// GridSize returns the number of points of the grid.
func GridSize(s *space.Space) uint64 {
	n := uint64(1)
	for i := range s.Params {
		if s.Params[i].Grid {
			n *= uint64(len(s.Params[i].Choices))
		}
	}
	return n
}

// GridPoint returns the grid point of the index-th suggestion: the last axis changes fastest. It is
// nil without grid axes.
func GridPoint(s *space.Space, index uint64) space.Point {
	if GridSize(s) == 1 && !hasGrid(s) {
		return nil
	}
	p := make(space.Point, len(s.Params))
	for i := len(s.Params) - 1; i >= 0; i-- {
		p[i] = math.NaN()
		if n := uint64(len(s.Params[i].Choices)); s.Params[i].Grid {
			p[i] = float64(index % n)
			index /= n
		}
	}
	return p
}

func hasGrid(s *space.Space) bool {
	for i := range s.Params {
		if s.Params[i].Grid {
			return true
		}
	}
	return false
}
