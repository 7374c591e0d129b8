package offer

import "testing"

func TestDecimal(t *testing.T) {
	tenth := 0.1
	for _, c := range []struct {
		x    float64
		want string
	}{{3 * tenth, "0.3"}, {7 * tenth, "0.7"}, {16, "16"}, {0.001, "0.001"}, {2.5, "2.5"}} {
		if got := decimal(c.x); got != c.want {
			t.Errorf("%g is written as %s, want %s", c.x, got, c.want)
		}
	}
}
