package cmaes

import (
	"math"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const (
	// maxDraws is how often the distribution is asked for a point, before points are drawn at
	// random.
	maxDraws = 300
	// maxFresh is how many points may violate a constraint before they are moved towards the best
	// one.
	maxFresh = 20
)

// A drawing is one suggestion in progress.
type drawing struct {
	*searcher
	request sdk.Request
	rng     space.Source
	// last is the previous draw, nil at first; wide is the factor of the distribution's width;
	// broken counts consecutive draws that violated a constraint.
	last   space.Point
	wide   float64
	broken int
}

// draw returns a point for [space.Seen.Pick], which calls it again if the last point violated a
// constraint or is not new.
func (d *drawing) draw(try int) space.Point {
	switch {
	case try >= maxDraws:
		return d.space.Draw(d.rng)
	case d.strategy == nil:
		d.last = d.first(try)
		return d.last
	}
	d.last = d.next()
	return d.last
}

// first returns the trial's point of the sequence, then random ones.
func (d *drawing) first(try int) space.Point {
	p := d.space.Draw(d.rng)
	for i := range d.sequence.Dimensions() {
		if try == 0 {
			p[i] = d.space.FromUnit(i, d.sequence.At(d.request.Trial, i))
		}
	}
	return p
}

// next widens the distribution if the last point was not new, and moves points towards the best one
// after repeated violations of constraints.
func (d *drawing) next() space.Point {
	if d.last != nil {
		if d.space.Holds(d.space.Complete(d.request.Given, d.last)) {
			d.wide *= 1.05
			d.broken = 0
		} else {
			d.broken++
		}
	}
	if d.broken < maxFresh || d.best == nil {
		return d.strategy.draw(d.rng, d.wide)
	}
	if d.broken > 2*maxFresh {
		d.broken = 0
	}
	return d.nearer(d.last)
}

// nearer returns the middle between p and the best trial.
func (d *drawing) nearer(p space.Point) space.Point {
	q := make(space.Point, len(p))
	for i := range p {
		a, b := &d.axes[i], d.best[i]
		switch {
		case a.Choices > 0 && !math.IsNaN(b) && d.rng.Float64() < 0.5:
			q[i] = b
		case a.Choices > 0 || math.IsNaN(b):
			q[i] = p[i]
		default:
			q[i] = a.Value((a.Of(p[i]) + a.Of(b)) / 2)
		}
	}
	return q
}
