package points

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A Plan says which point of the grid each trial has, so that each combination runs as often as is planned (B-100),
// also where points of the user are some of them.
type Plan struct {
	e     *config.Experiment
	given []space.Point
	taken []uint64 // indices of grid points that the user's points are, in order
}

// NewPlan makes the plan of an experiment.
func NewPlan(e *config.Experiment) *Plan {
	p := &Plan{e: e, given: make([]space.Point, len(e.Points))}
	for i, point := range e.Points {
		p.given[i] = point.Given
		if e.PointsAreOfGrid && hasGrid(e.Space) && GridSize(e.Space) < Most {
			p.given[i] = p.place(point.Given)
		}
	}
	return p
}

// Given returns a point of the user. The axes of the grid that it leaves open have the values of the first combination
// that no point before it has.
func (p *Plan) Given(i int) space.Point { return p.given[i] }

// Trials returns the number of samples times the size of the grid, and the points that come on top because their
// combination has run as often as it should; -1: there is no limit.
func (p *Plan) Trials() int64 {
	if p.e.Trials < 0 {
		return -1
	}
	n := Times(p.e.Trials, int64(GridSize(p.e.Space)))
	at, _ := slices.BinarySearch(p.taken, uint64(n))
	return n + int64(len(p.taken)-at)
}

// Requests converts a question for the searcher: it fixes the grid axes, unless the searcher combines them itself and
// so knows which combinations have no further points.
func (p *Plan) Requests(t sdk.Traits, seed uint64, a core.AskSearcher) []sdk.Request {
	list := make([]sdk.Request, a.Count)
	for i := range list {
		n := a.First + uint64(i)
		list[i] = sdk.Request{Trial: uint32(n), Seed: seeds.For(seed, seeds.Suggestion, n)}
		if !t.CombinesGrid {
			list[i].Given = GridPoint(p.e.Space, p.free(n))
		}
	}
	return list
}

// free returns the n-th index that no point of the user has.
func (p *Plan) free(n uint64) uint64 {
	for _, taken := range p.taken {
		if taken > n {
			break
		}
		n++
	}
	return n
}

// place takes the first free index of the grid that a point fits, and returns the point with the values of that.
func (p *Plan) place(given space.Point) space.Point {
	s, whole := p.e.Space, slices.Clone(given)
	var open []int // axes without a value
	for i := range s.Params {
		if s.Params[i].Grid && math.IsNaN(given[i]) {
			open = append(open, i)
		}
	}
	for n := uint64(0); ; n++ {
		rest := n
		for _, i := range slices.Backward(open) {
			whole[i] = float64(rest % uint64(len(s.Params[i].Choices)))
			rest /= uint64(len(s.Params[i].Choices))
		}
		index := gridIndex(s, whole) + rest*GridSize(s)
		if at, found := slices.BinarySearch(p.taken, index); !found {
			p.taken = slices.Insert(p.taken, at, index)
			return whole
		}
	}
}
