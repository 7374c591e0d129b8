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
	cells cells
	given []space.Point
	runs  map[uint64]uint64 // how many points of the user are a combination of the grid, by its place
	taken []uint64          // the places of these points on walks over the grid, in order
}

// NewPlan makes the plan of an experiment.
func NewPlan(e *config.Experiment) *Plan {
	p := &Plan{e: e, cells: cellsOf(e), given: make([]space.Point, len(e.Points)), runs: map[uint64]uint64{}}
	for i, point := range e.Points {
		p.given[i] = point.Given
		if e.PointsAreOfGrid && hasGrid(e.Space) && p.cells.size < Most {
			p.given[i] = p.place(point.Given)
		}
	}
	slices.Sort(p.taken)
	return p
}

// Given returns a point of the user. The axes of the grid that it leaves open have the values of the first combination
// that no point before it has.
func (p *Plan) Given(i int) space.Point { return p.given[i] }

// Trial turns a point of the user into a trial.
func (p *Plan) Trial(seed uint64, i int) (core.Suggestion, error) {
	return completed(p.e, seed, uint64(i), wish{p.given[i], p.e.Points[i].Given, nil})
}

// Combinations returns how many combinations the grid has: 1 without grid axes.
func (p *Plan) Combinations() uint64 { return p.cells.size }

// TooMany reports whether it takes too long to tell which combinations conditions and constraints leave.
func (p *Plan) TooMany() bool { return p.cells.many }

// Trials returns the number of samples times the size of the grid, and the points that come on top because their
// combination has run as often as it should, or because there are more points than samples; -1: there is no limit.
func (p *Plan) Trials() int64 {
	if p.e.Trials < 0 {
		return -1
	}
	n := Times(p.e.Trials, int64(p.cells.size))
	if p.e.PlansWhatCanBe && !hasGrid(p.e.Space) {
		return max(n, int64(len(p.given)))
	}
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
			list[i].Given = p.cells.point(p.free(n))
		}
	}
	return list
}

// free returns the n-th place that no point of the user has.
func (p *Plan) free(n uint64) uint64 {
	for _, taken := range p.taken {
		if taken > n {
			break
		}
		n++
	}
	return n
}

// place takes a combination for a point, one that as few points before it have as there is, and returns the point with
// the values of it.
func (p *Plan) place(given space.Point) space.Point {
	if p.e.PlansWithinLimits && p.cells.some {
		return p.placeInList(given)
	}
	s, whole := p.e.Space, slices.Clone(given)
	var open []int // axes without a value
	for i := range s.Params {
		if s.Params[i].Grid && math.IsNaN(given[i]) {
			open = append(open, i)
		}
	}
	for runs := uint64(0); ; runs++ {
		found := false
		for n := uint64(0); fill(whole, s, open, n); n++ {
			at, ok := p.cells.place(whole)
			if found = found || ok; ok && p.runs[at] == runs {
				p.runs[at]++
				p.taken = append(p.taken, at+runs*p.cells.size)
				return whole
			}
		}
		if !found {
			return given // no combination has its values: it fails when it is completed
		}
	}
}

// placeInList is place where the combinations are in a list.
func (p *Plan) placeInList(given space.Point) space.Point {
	s := p.e.Space
	same, _ := s.PossibleCells(given, mostSteps)
	var at uint64
	found := false
	for _, cell := range same {
		i, ok := slices.BinarySearch(p.cells.list, cell)
		if ok && (!found || p.runs[uint64(i)] < p.runs[at]) {
			at, found = uint64(i), true
		}
	}
	if !found {
		return given // no combination has its values: it fails when it is completed
	}
	p.taken = append(p.taken, at+p.runs[at]*p.cells.size)
	p.runs[at]++
	whole := slices.Clone(given)
	for i, x := range gridPoint(s, p.cells.list[at]) {
		if math.IsNaN(whole[i]) {
			whole[i] = x
		}
	}
	return whole
}

// fill gives axes the values of their n-th combination; false: there are fewer.
func fill(p space.Point, s *space.Space, axes []int, n uint64) bool {
	for _, i := range slices.Backward(axes) {
		size := uint64(len(s.Params[i].Choices))
		p[i] = float64(n % size)
		n /= size
	}
	return n == 0
}
