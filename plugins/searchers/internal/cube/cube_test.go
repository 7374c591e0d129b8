package cube

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// A value converted to a coordinate and back does not change.
func TestThereAndBack(t *testing.T) {
	sp := searchtest.EveryForm()
	axes, rng := New(sp), space.NewRand(9)
	for range 500 {
		p, _ := sp.Sample(rng)
		for i, u := range Of(axes, p) {
			a := &axes[i]
			if back := a.Value(u); math.Abs(back-p[i]) > 1e-12*math.Abs(p[i]) {
				t.Fatalf("%s: %v is at %v, which is %v", sp.Params[i].Name, p[i], u, back)
			}
			if a.Choices == 0 && !(u >= a.Low && u <= a.High) {
				t.Fatalf("%s: %v is at %v", sp.Params[i].Name, p[i], u)
			}
		}
	}
}

// All coordinates of a cell have the same value, and those outside another one.
func TestCell(t *testing.T) {
	sp := searchtest.EveryForm()
	rng := space.NewRand(3)
	for i, a := range New(sp) {
		if a.Step == 0 {
			continue
		}
		for range 300 {
			u := rng.Float64()
			low, high := a.Cell(u)
			if !(low <= u && u <= high) {
				t.Fatalf("%s: %v is not in its cell, %v to %v", sp.Params[i].Name, u, low, high)
			}
			inside := math.Max(low, a.Low) + 1e-9
			if a.Value(inside) != a.Value(u) || !math.IsInf(low, -1) && a.Value(low-1e-9) == a.Value(u) {
				t.Fatalf("%s: the cell of %v begins at %v", sp.Params[i].Name, u, low)
			}
			inside = math.Min(high, a.High) - 1e-9
			if a.Value(inside) != a.Value(u) || !math.IsInf(high, 1) && a.Value(high+1e-9) == a.Value(u) {
				t.Fatalf("%s: the cell of %v ends at %v", sp.Params[i].Name, u, high)
			}
		}
	}
}

func TestKinds(t *testing.T) {
	axes := New(searchtest.EveryForm())
	if !axes[11].Fixed() || axes[9].Choices != 4 || axes[10].Values != 5 || axes[0].Step != 0 || axes[0].Values != 0 {
		t.Error(axes)
	}
	if u := axes[7].Of(12); math.Abs(u-(0.5+1.0/6)) > 1e-15 || !math.IsNaN(axes[7].Of(math.NaN())) ||
		!math.IsNaN(axes[0].Value(math.NaN())) {
		t.Error(u)
	}
}
