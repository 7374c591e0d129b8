package gp

import (
	"testing"

	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

func TestConverges(t *testing.T) {
	limits := []float64{0.41, -3.1, 0.15, 0.08}
	for i, problem := range Problems() {
		got := Best(t, Plugin, problem, "{}", 3, 60)
		if t.Logf("%s: %.4f; random %.4f", problem.Name, got, Best(t, Plugin, problem, `{"startup": 100000}`, 4, 60)); got > limits[i] {
			t.Errorf("%s: %.4f, want at most %.4f", problem.Name, got, limits[i])
		}
	}
}
