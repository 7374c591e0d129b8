package gp

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

func TestBowl(t *testing.T) {
	const b bowl = 0.3
	if got := b.at([]float64{0, 0.5}) - b.at([]float64{0.5, 0.5}); math.Abs(got-0.3) > 1e-12 {
		t.Errorf("a bound is %v above the middle, want 0.3", got)
	}
	sum := 0.0
	for i := range 1000 {
		sum += b.at([]float64{(float64(i) + 0.5) / 1000}) / 1000
	}
	if math.Abs(sum) > 1e-6 {
		t.Errorf("the mean over a range is %v, want 0", sum)
	}
	for _, x := range []float64{0, 0.3, 1} {
		want := difference(func(at []float64) float64 { return b.at(at) }, []float64{x}, 0)
		if got := b.slope(x); math.Abs(got-want) > 1e-6 {
			t.Errorf("at %v: slope %v, want %v", x, got, want)
		}
	}
}

// The first points lie in the inner parts of the ranges, and fill them; with several objectives, whose fronts reach to
// the bounds, in all of the ranges.
func TestFirstPoints(t *testing.T) {
	for objectives, width := range map[int]float64{1: inner, 2: 1} {
		sp := Reals(3, 0, 1)
		s := Open(t, Plugin, sp, `{"startup": 64}`, objectives)
		low, high := 1.0, 0.0
		for i := range 64 {
			for _, x := range Suggest(t, s, Request(1, i)).Points[0] {
				low, high = min(low, x), max(high, x)
			}
		}
		if span := high - low; span > width || span < 0.95*width || math.Abs(low+high-1) > 0.05 {
			t.Errorf("%d objectives: from %v to %v, want %v around the middle", objectives, low, high, width)
		}
	}
}

// What is believed of the bounds does not outweigh results: a best point in a corner is found.
func TestCorner(t *testing.T) {
	corner := Problem{Name: "corner", Space: Reals(4, 0, 1), Loss: func(p space.Point) (sum float64) {
		for _, x := range p {
			sum += x
		}
		return sum
	}}
	if got := Best(t, Plugin, corner, "{}", 3, 30); got > 0.05 {
		t.Errorf("%.4f, want at most 0.05", got)
	}
}
