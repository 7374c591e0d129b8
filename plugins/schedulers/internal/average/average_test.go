package average

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The mean of finite losses is finite and between them, however large they are.
func TestBetweenTheLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		large := rapid.SampledFrom([]float64{1.7e308, -1.7e308, math.MaxFloat64, -math.MaxFloat64, 1e307, 3, 0})
		losses := rapid.SliceOfN(rapid.OneOf(large, rapid.Float64()), 1, 50).Draw(t, "losses")
		var m Mean
		for _, x := range losses {
			m.Add(x)
		}
		low, high := slices.Min(losses), slices.Max(losses)
		slack := 1e-12 * max(math.Abs(low), math.Abs(high))
		if got := m.Value(); !(got >= low-slack && got <= high+slack) || math.IsInf(got, 0) {
			t.Fatalf("the mean of %v is %v", losses, got)
		}
	})
}

// B-015: a loss that cannot be compared makes the mean one, wherever it comes.
func TestInfinite(t *testing.T) {
	for _, losses := range [][]float64{{math.Inf(1)}, {1, math.Inf(1), 2}, {math.Inf(1), -1.7e308, -1.7e308},
		{-1.7e308, -1.7e308, math.Inf(1)}} {
		var m Mean
		for _, x := range losses {
			m.Add(x)
		}
		if got := m.Value(); !math.IsInf(got, 1) {
			t.Errorf("the mean of %v is %v", losses, got)
		}
	}
}
