package main

import (
	"slices"
	"testing"
)

// Members of a front differ by little, and look different.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []string
	}{
		{[]float64{10.00038, 10.00018, 9}, []string{"10.0004", "10.0002", "9"}},
		{[]float64{0.5, 0.25, 0.5}, []string{"0.5", "0.25", "0.5"}},
		{[]float64{1, 1 + 1e-12}, []string{"1", "1.000000000001"}},
		{nil, []string{}},
	} {
		if got := apart(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}
