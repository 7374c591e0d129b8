package portable

import (
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, x, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s(%g) = %g, want %g", what, x, got, want)
	}
}

func TestAgainstMath(t *testing.T) {
	for x := -30.0; x <= 30; x += 0.0137 {
		near(t, "Exp", x, Exp(x), math.Exp(x), 1e-14*math.Exp(x))
		near(t, "CDF", x, CDF(x), 0.5*math.Erfc(-x/math.Sqrt2), 1e-8)
		y := math.Exp(3 * x)
		near(t, "Log", y, Log(y), math.Log(y), 1e-14*math.Max(1, math.Abs(3*x)))
	}
	for u := 1e-6; u < 1; u += 0.00317 {
		near(t, "Quantile", u, CDF(Quantile(u)), u, 2e-8)
	}
}

func TestEdges(t *testing.T) {
	near(t, "Exp", -1e300, Exp(-1e300), 0, 0)
	near(t, "Exp", 0, Exp(0), 1, 0)
	near(t, "Log", 1, Log(1), 0, 0)
	near(t, "Log", 5e-324, Log(5e-324), -1074*math.Ln2, 1e-12)
	near(t, "Log", math.MaxFloat64, Log(math.MaxFloat64), math.Log(math.MaxFloat64), 1e-12)
	near(t, "CDF", 9, CDF(9), 1, 0)
	near(t, "CDF", -9, CDF(-9), 0, 0)
	if !math.IsInf(Exp(800), 1) || !math.IsNaN(Exp(math.NaN())) {
		t.Error("Exp of 800 and NaN")
	}
	for _, x := range []float64{0.5, 1 - 1e-16, 1, 1 + 2e-16, 2 - 2e-16, 2} {
		near(t, "Log", x, Log(x), math.Log(x), 3e-16)
	}
}

// Exponentials of many numbers have the same bits as those of one.
func TestExps(t *testing.T) {
	inf := math.Inf(1)
	all := []float64{0, math.Copysign(0, -1), 1, -1, -699.99, -700, -700.01, 708.9, 709, 709.01, inf, -inf, math.NaN(),
		1e300, -1e300, 5e-324, 1e-20, -1e-9}
	for x := -705.0; x < 712; x += 0.0913 {
		all = append(all, x)
	}
	for n := range 9 {
		for from := 0; from+n <= len(all); from += max(n, 1) {
			got := slices.Clone(all[from : from+n])
			Exps(got)
			for i, x := range all[from : from+n] {
				want := Exp(x)
				same := math.Float64bits(got[i]) == math.Float64bits(want) || math.IsNaN(got[i]) && math.IsNaN(want)
				if !same {
					t.Fatalf("number %d of %d, %v: %v, want %v", i, n, x, got[i], want)
				}
			}
		}
	}
}

// These bits are the same on every machine.
func TestBits(t *testing.T) {
	got := []uint64{}
	for _, y := range []float64{Exp(-1.25), Log(7.3), CDF(-0.7), Quantile(0.123)} {
		got = append(got, math.Float64bits(y))
	}
	want := []uint64{0x3fd25618372a584f, 0x3fffce55551e156e, 0x3fcef8aa3d41c8c8, 0xbff28fd9ddce9e7b}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("value %d: %#x, want %#x", i, got[i], want[i])
		}
	}
}

func BenchmarkExp(b *testing.B) {
	x, sum := 0.0, 0.0
	for b.Loop() {
		x -= 0.001
		sum += Exp(x)
	}
}

func BenchmarkLog(b *testing.B) {
	x, sum := 1.0, 0.0
	for b.Loop() {
		x += 0.37
		sum += Log(x)
	}
}

func BenchmarkCDF(b *testing.B) {
	x, sum := -8.0, 0.0
	for b.Loop() {
		x += 1e-6
		sum += CDF(x)
	}
}

func BenchmarkExps(b *testing.B) {
	x := make([]float64, 256)
	for b.Loop() {
		for i := range x {
			x[i] = -float64(i) / 8
		}
		Exps(x)
	}
}
