package grid

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// The cells of a space are the combinations of its grid axes. Trials take them in turn.
type cells struct {
	axes  []space.Axis
	grid  []bool            // which axes are the space's grid axes
	list  []uint64          // those that can be, see [space.Space.PossibleCells]; nil: all
	count uint64            // of all, or of the list
	alone bool              // nothing else is to be combined
	first space.Point       // the first value of each axis: the only one of those that are not the grid's, if alone
	after map[uint64]uint64 // cells without further points, and a later cell for each
	found bool              // some cell has a point
}

func newCells(s *space.Space, axes []space.Axis) cells {
	c := cells{axes: axes, grid: make([]bool, len(axes)), count: 1, after: map[uint64]uint64{}}
	grids, others := false, false
	for i, axis := range axes {
		c.grid[i] = s.Params[i].Grid
		c.first = append(c.first, axis.Value(0))
		if c.grid[i] {
			c.count = times(c.count, uint64(axis.Count))
		}
		grids, others = grids || c.grid[i], others || !c.grid[i] && axis.Count > 1
	}
	c.alone = !others && (grids || len(axes) == 0)
	if list, ok := s.PossibleCells(nil, mostSteps); ok && grids && !isEven(s) {
		c.list, c.count = append([]uint64{}, list...), uint64(len(list))
	}
	return c
}

// mostSteps limits the search for cells that can be; in a larger grid the others count, too.
const mostSteps = 1 << 20

// isEven reports whether each combination of the grid axes is one: nothing rules any out.
func isEven(s *space.Space) bool {
	conditional := func(p space.Param) bool { return p.Grid && p.When != nil }
	return len(s.Constraints) == 0 && !slices.ContainsFunc(s.Params, conditional)
}

// times is a product, or the largest number.
func times(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// point gives the coordinates of a cell; the last axis changes fastest.
func (c *cells) point(cell uint64) space.Point {
	p := make(space.Point, len(c.axes))
	if c.list != nil {
		cell = c.list[cell]
	}
	for i := len(p) - 1; i >= 0; i-- {
		p[i] = math.NaN()
		if n := uint64(c.axes[i].Count); c.grid[i] {
			p[i] = c.axes[i].Value(int64(cell % n))
			cell /= n
		}
	}
	return p
}

func (c *cells) ended() bool { return uint64(len(c.after)) == c.count }

func (c *cells) end(cell uint64) { c.after[cell] = (cell + 1) % c.count }

// next returns the first cell with further points from that of a trial on; one must be left.
func (c *cells) next(trial uint64) uint64 {
	cell := trial % c.count
	for {
		after, ended := c.after[cell]
		if !ended {
			return cell
		}
		if later, ended := c.after[after]; ended {
			c.after[cell] = later // the next search skips one
		}
		cell = after
	}
}
