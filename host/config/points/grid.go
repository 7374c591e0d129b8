package points

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Most is the largest number of points of a grid, and of trials, that is counted: larger ones are the same to everybody
// who waits for them. JSON has it exactly.
const Most = 1 << 53

// GridSize returns the number of points of the grid, at most [Most].
func GridSize(s *space.Space) uint64 {
	n := uint64(1)
	for i := range s.Params {
		if s.Params[i].Grid {
			n = uint64(Times(int64(n), int64(len(s.Params[i].Choices))))
		}
	}
	return n
}

// Times returns a product of counts, at most [Most].
func Times(a, b int64) int64 {
	if b > 0 && a > Most/b {
		return Most
	}
	return a * b
}

// gridPoint returns the grid point of the index-th suggestion: the last axis changes fastest. It is
// nil without grid axes.
func gridPoint(s *space.Space, index uint64) space.Point {
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

// gridIndex is the inverse of gridPoint, for the first walk over the grid.
func gridIndex(s *space.Space, p space.Point) (index uint64) {
	for i := range s.Params {
		if s.Params[i].Grid {
			index = index*uint64(len(s.Params[i].Choices)) + uint64(p[i])
		}
	}
	return index
}

func hasGrid(s *space.Space) bool {
	for i := range s.Params {
		if s.Params[i].Grid {
			return true
		}
	}
	return false
}
