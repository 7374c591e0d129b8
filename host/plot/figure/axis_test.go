package figure

import (
	"math"
	"testing"
)

// Each finite value has a place on its axis, with ticks beside it, also where differences are too large for a number.
func TestAxesOfTheLargestNumbers(t *testing.T) {
	const most, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, log := range []bool{false, true} {
		for _, values := range [][]float64{{most}, {least, most}, {1, most}, {1e308, most}, {1.2e308, 1.3e308},
			{-most}, {-most, most}, {0, most}, {-1e308, 1e308}, {-most, 0}, {-least, least}, {0, 1}} {
			if log && values[0] <= 0 {
				continue
			}
			a := Axis{Log: log}
			a.Fit(values...)
			for _, v := range values {
				at := a.At(v)
				if !(at >= 0 && at <= 1) || math.IsInf(a.Value(at), 0) || math.IsNaN(a.Value(at)) {
					t.Errorf("log %t, %v: the place of %g is %g, there is %g", log, values, v, at, a.Value(at))
				}
			}
			for most := 2; most < 8; most++ {
				checkTicks(t, &a, most, values)
			}
		}
	}
}

// Values near the smallest number have places of their own, and ticks that look different.
func TestAxesOfTheTiniestNumbers(t *testing.T) {
	const least = math.SmallestNonzeroFloat64
	for _, log := range []bool{false, true} {
		for _, values := range [][]float64{{least, 2 * least}, {0, least}, {-least, 0}, {-least, least}, {0, 3 * least},
			{least, 24 * least}, {1e-310, 2e-310}, {0, 1e-310}, {1e-290, 3e-290}, {1e-15, 2e-15}} {
			if log && values[0] <= 0 {
				continue
			}
			a := Axis{Log: log}
			a.Fit(values...)
			if from, to := a.At(values[0]), a.At(values[1]); !(from >= 0 && to <= 1 && to-from > 0.2) {
				t.Errorf("log %t, %v: places from %g to %g", log, values, from, to)
			}
			for most := 2; most < 8; most++ {
				checkTicks(t, &a, most, values)
			}
		}
	}
}

// A single value is in the middle of an axis that is not much larger.
func TestAxisOfOneValue(t *testing.T) {
	for _, v := range []float64{1, -3, 1e-12, 1e-300, math.SmallestNonzeroFloat64, 1e300} {
		var a Axis
		a.Fit(v)
		if math.Abs(a.At(v)-0.5) > 1e-6 || math.Abs(a.High) > 3*math.Abs(v) || math.Abs(a.Low) > 3*math.Abs(v) {
			t.Errorf("%g is at %g of %g to %g", v, a.At(v), a.Low, a.High)
		}
	}
}

func checkTicks(t *testing.T, a *Axis, most int, values []float64) {
	t.Helper()
	list := a.Ticks(most)
	if len(list) == 0 {
		t.Errorf("log %t, %v: no ticks of %d", a.Log, values, most)
	}
	seen := map[string]bool{}
	for _, x := range list {
		if seen[x.Text] {
			t.Errorf("log %t, %v: %s is there twice of %d", a.Log, values, x.Text, most)
		}
		seen[x.Text] = true
		if at := a.At(x.Value); !(at > -0.01 && at < 1.01) || math.IsInf(x.Value, 0) {
			t.Errorf("log %t, %v: the tick %s of %d is at %g", a.Log, values, x.Text, most, at)
		}
	}
}
