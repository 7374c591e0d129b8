package descent

import (
	"math"
	"testing"
)

func box(n int, low, high float64) (l, h []float64) {
	for range n {
		l, h = append(l, low), append(h, high)
	}
	return l, h
}

func rosenbrock(x, g []float64) (f float64) {
	clear(g)
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
		g[i] += -400*a*x[i] - 2*b
		g[i+1] += 200 * a
	}
	return f
}

func TestInside(t *testing.T) {
	x := []float64{-1.2, 1, -0.5, 0.3}
	low, high := box(4, -2, 2)
	calls := 0
	f := Minimise(func(x, g []float64) float64 { calls++; return rosenbrock(x, g) }, x, low, high, Limits{500, 1e-9, 0})
	for _, y := range x {
		if math.Abs(y-1) > 1e-6 {
			t.Fatalf("%v at %v", f, x)
		}
	}
	if calls > 300 {
		t.Errorf("%d calls", calls)
	}
}

// The minimum is on an edge of the box, and so are some starts.
func TestAtBounds(t *testing.T) {
	for _, start := range [][]float64{{0.2, 0.2}, {0, 0}, {0.5, 0.5}, {0, 0.5}} {
		x := append([]float64(nil), start...)
		low, high := box(2, 0, 0.5)
		Minimise(rosenbrock, x, low, high, Limits{200, 1e-9, 0})
		if math.Abs(x[0]-0.5) > 1e-6 || math.Abs(x[1]-0.25) > 1e-6 {
			t.Errorf("from %v to %v", start, x)
		}
	}
}

// Regions in which a function is undefined are avoided.
func TestHoles(t *testing.T) {
	x := []float64{0.9}
	low, high := box(1, 0, 1)
	Minimise(func(x, g []float64) float64 {
		g[0] = 1
		if x[0] < 0.5 {
			return math.Inf(1)
		}
		return x[0]
	}, x, low, high, Limits{100, 0, 0})
	if x[0] < 0.5 || x[0] > 0.51 {
		t.Error(x)
	}
	if f := Minimise(func(_, g []float64) float64 { g[0] = math.NaN(); return math.NaN() }, x, low, high,
		Limits{9, 0, 0}); !math.IsNaN(f) {
		t.Error(f)
	}
}
