package view

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func curveOf(values []float64) (all []Result) {
	for i, v := range values {
		all = append(all, Result{Iteration: uint64(i + 1), Metrics: []Metric{{Name: "loss", Value: v}}})
	}
	return all
}

// A curve thinned to any number of points has no more than these, in order, with its ends, its least
// and its largest value, and one NaN if there was any.
func TestThinKeepsExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 1, 300).Draw(t, "values")
		nan := rapid.IntRange(-1, len(values)-1).Draw(t, "nan")
		if nan >= 0 {
			values[nan] = math.NaN()
		}
		points := rapid.IntRange(4, 60).Draw(t, "points")
		all := curveOf(values)
		thin := Thin(all, "loss", points)
		if len(thin) > max(points, 0) || len(all) <= points && len(thin) != len(all) {
			t.Fatalf("%d of %d results for %d points", len(thin), len(all), points)
		}
		if thin[0].Iteration != 1 || thin[len(thin)-1].Iteration != uint64(len(all)) {
			t.Fatal("an end is missing")
		}
		for i := 1; i < len(thin); i++ {
			if thin[i].Iteration <= thin[i-1].Iteration {
				t.Fatalf("iteration %d after %d", thin[i].Iteration, thin[i-1].Iteration)
			}
		}
		if nan < 0 && span(all) != span(thin) {
			t.Fatalf("%v of %v", span(thin), span(all))
		}
		if (nan >= 0) != hasNaN(thin) || span(all)[0] != span(thin)[0] {
			t.Fatalf("NaN %v, least %v of %v", hasNaN(thin), span(thin)[0], span(all)[0])
		}
	})
}

// Results without the metric are thinned, too.
func TestThinWithoutTheMetric(t *testing.T) {
	all := curveOf(make([]float64, 100))
	if n := len(Thin(all, "accuracy", 10)); n > 10 || n < 3 {
		t.Errorf("%d results", n)
	}
	all[50].Metrics = append(all[50].Metrics, Metric{Name: "accuracy", Value: 1})
	for _, r := range Thin(all, "accuracy", 10) {
		if _, ok := r.Metric("accuracy"); ok {
			return
		}
	}
	t.Error("the only value was left out")
}

func span(all []Result) [2]float64 {
	s := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, r := range all {
		if v, _ := r.Metric("loss"); v == v {
			s[0], s[1] = min(s[0], v), max(s[1], v)
		}
	}
	return s
}

func hasNaN(all []Result) bool {
	for _, r := range all {
		if v, _ := r.Metric("loss"); v != v {
			return true
		}
	}
	return false
}
