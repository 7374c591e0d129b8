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

func checkTicks(t *testing.T, a *Axis, most int, values []float64) {
	t.Helper()
	list := a.Ticks(most)
	if len(list) == 0 {
		t.Errorf("log %t, %v: no ticks of %d", a.Log, values, most)
	}
	for _, x := range list {
		if at := a.At(x.Value); !(at > -0.01 && at < 1.01) || math.IsInf(x.Value, 0) {
			t.Errorf("log %t, %v: the tick %s of %d is at %g", a.Log, values, x.Text, most, at)
		}
	}
}
