package stat

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

var nan, inf = math.NaN(), math.Inf(1)

var values = rapid.OneOf(
	rapid.Float64Range(-10, 10),
	rapid.Float64(), // including infinities and extremes
	rapid.SampledFrom([]float64{nan, inf, -inf, 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64}),
)

// Compares with the plain definitions over all values. B-015, B-017
func TestSummaryAgainstAllValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Summary
		var w Window
		var seen []float64
		for _, x := range rapid.SliceOfN(values, 1, 40).Draw(t, "values") {
			s.Add(&w, x)
			seen = append(seen, x)
			checkSummary(t, s, seen)
		}
	})
}

func checkSummary(t *rapid.T, s Summary, seen []float64) {
	numbers := slices.DeleteFunc(slices.Clone(seen), math.IsNaN)
	finite := slices.DeleteFunc(slices.Clone(numbers), func(x float64) bool { return math.IsInf(x, 0) })
	wantMin, wantMax := nan, nan
	switch {
	case len(finite) > 0:
		wantMin, wantMax = slices.Min(finite), slices.Max(finite)
	case len(numbers) > 0:
		wantMin, wantMax = slices.Min(numbers), slices.Max(numbers)
	}
	switch {
	case !equal(s.First, seen[0]) || !equal(s.Last, seen[len(seen)-1]):
		t.Fatalf("first and last of %v: %+v", seen, s)
	case !equal(s.Min, wantMin) || !equal(s.Max, wantMax):
		t.Fatalf("min and max of %v: %+v", seen, s)
	case int(s.Count) != len(seen) || int(s.Finite) != len(finite):
		t.Fatalf("counts of %v: %+v", seen, s)
	}
	checkMean(t, s.Mean, seen)
	checkMean(t, s.Mean5, seen[max(0, len(seen)-5):])
	checkMean(t, s.Mean10, seen[max(0, len(seen)-10):])
}

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// checkMean computes the mean with 2000 bits, enough for exact values.
func checkMean(t *rapid.T, got float64, seen []float64) {
	sum, n, largest := new(big.Float).SetPrec(2200), 0, 0.0
	for _, x := range seen {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		sum.Add(sum, big.NewFloat(x))
		largest = max(largest, math.Abs(x))
		n++
	}
	if n == 0 {
		if !math.IsNaN(got) {
			t.Fatalf("mean of %v is %v", seen, got)
		}
		return
	}
	want, _ := sum.Quo(sum, big.NewFloat(float64(n))).Float64()
	if tolerance := 1e-14*largest + 1e-320; !(math.Abs(got/2-want/2) <= tolerance) {
		t.Fatalf("mean of %v is %v, want %v", seen, got, want)
	}
}

// B-017
func TestMeansOfTheLastFiveAndTen(t *testing.T) {
	var s Summary
	var w Window
	for i := 1; i <= 20; i++ {
		s.Add(&w, float64(i))
	}
	want := Summary{First: 1, Last: 20, Min: 1, Max: 20, Mean: 10.5, Mean5: 18, Mean10: 15.5, Count: 20, Finite: 20}
	if math.Abs(s.Mean-want.Mean) > 1e-13 || math.Abs(s.Mean5-want.Mean5) > 1e-13 ||
		math.Abs(s.Mean10-want.Mean10) > 1e-13 {
		t.Fatalf("%+v", s)
	}
	s.Mean, s.Mean5, s.Mean10 = want.Mean, want.Mean5, want.Mean10
	if s != want {
		t.Fatalf("%+v", s)
	}
}

func TestMeanOfEqualValuesIsThatValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1e300, 1e300).Draw(t, "x")
		var s Summary
		var w Window
		for range 100 {
			s.Add(&w, x)
		}
		if s.Mean != x || s.Mean5 != x || s.Mean10 != x {
			t.Fatalf("%v: %+v", x, s)
		}
	})
}

// B-015
func TestNaNIsKeptButNotExtreme(t *testing.T) {
	var s Summary
	var w Window
	s.Add(&w, nan)
	if !math.IsNaN(s.Min) || !math.IsNaN(s.Max) || !math.IsNaN(s.Mean) || !math.IsNaN(s.Mean5) {
		t.Fatalf("%+v", s)
	}
	s.Add(&w, 2)
	s.Add(&w, nan)
	if !math.IsNaN(s.First) || !math.IsNaN(s.Last) || s.Min != 2 || s.Max != 2 || s.Mean != 2 || s.Mean10 != 2 {
		t.Fatalf("%+v", s)
	}
}

// B-061: continuing from copies removes later values.
func TestCopiesTakeReportsBack(t *testing.T) {
	var s, direct Summary
	var w, directWindow Window
	for i := range 13 {
		s.Add(&w, float64(i))
		direct.Add(&directWindow, float64(i))
	}
	atCheckpoint, windowAtCheckpoint := s, w
	s.Add(&w, 1000)
	s, w = atCheckpoint, windowAtCheckpoint
	for _, x := range []float64{7, 8} {
		s.Add(&w, x)
		direct.Add(&directWindow, x)
	}
	if s != direct {
		t.Fatalf("%+v, want %+v", s, direct)
	}
}

// A million trials keep one summary per metric.
func TestSummaryStaysSmall(t *testing.T) {
	if size := unsafe.Sizeof(Summary{}); size != 64 {
		t.Fatalf("%d bytes", size)
	}
}

// B-015
func TestNotFiniteIsWorst(t *testing.T) {
	for mode, best := range map[Mode][]float64{
		Min: {-math.MaxFloat64, -1, 0, 2, math.MaxFloat64, -inf, inf, nan},
		Max: {math.MaxFloat64, 2, 0, -1, -math.MaxFloat64, inf, -inf, nan},
	} {
		for i, a := range best {
			for j, b := range best {
				if Better(a, b, mode) != (i < j) {
					t.Errorf("%v: %v better than %v is %v", mode, a, b, i >= j)
				}
			}
		}
	}
	if Compare(math.Copysign(0, -1), 0, Min) != 0 {
		t.Error("-0 is not 0")
	}
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Mode{Min, Max}).Draw(t, "mode")
		a, b, c := values.Draw(t, "a"), values.Draw(t, "b"), values.Draw(t, "c")
		if Compare(a, a, m) != 0 || Compare(a, b, m) != -Compare(b, a, m) {
			t.Fatal("not antisymmetric")
		}
		if Compare(a, b, m) <= 0 && Compare(b, c, m) <= 0 && Compare(a, c, m) > 0 {
			t.Fatal("not transitive")
		}
		if finite(a) && finite(b) && Better(a, b, m) != (m == Min && a < b || m == Max && a > b) {
			t.Fatal("not the order of numbers")
		}
	})
}

func TestModeText(t *testing.T) {
	for _, m := range []Mode{Min, Max} {
		text, err := m.MarshalText()
		var back Mode
		if err != nil || back.UnmarshalText(text) != nil || back != m {
			t.Errorf("%v: %s %v %v", m, text, err, back)
		}
	}
	if _, err := Mode(7).MarshalText(); err == nil {
		t.Error("mode 7 has a text")
	}
	for _, bad := range []string{"", "MIN", "maximize", strings.Repeat("x\n", 99)} {
		if _, err := ParseMode(bad); err == nil || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "use min or max") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Summary
	var w Window
	b.ReportAllocs()
	for b.Loop() {
		s.Add(&w, 0.5)
	}
}

// The mean of finite values is finite, however large their sum is; of others it is that of their sum.
func TestAverage(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1, 2, 6}, 3},
		{[]float64{1.5e308, 1.5e308, 1.5e308}, 1.5e308},
		{[]float64{-math.MaxFloat64, -math.MaxFloat64}, -math.MaxFloat64},
		{[]float64{1.5e308, inf}, inf},
		{[]float64{inf, -inf}, math.NaN()},
		{nil, math.NaN()},
	} {
		if got := Average(c.values); !equal(got, c.want) {
			t.Errorf("the mean of %v is %v, want %v", c.values, got, c.want)
		}
	}
}
