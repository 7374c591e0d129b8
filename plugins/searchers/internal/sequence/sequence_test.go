package sequence

import "testing"

// The published first points, which are in the order of Gray's code.
func TestPublishedPoints(t *testing.T) {
	all, err := directions(3)
	if err != nil {
		t.Fatal(err)
	}
	want := [][3]float64{{0, 0, 0}, {0.5, 0.5, 0.5}, {0.75, 0.25, 0.25}, {0.25, 0.75, 0.75},
		{0.375, 0.375, 0.625}, {0.875, 0.875, 0.125}, {0.625, 0.125, 0.875}, {0.125, 0.625, 0.375}}
	for n := range uint32(8) {
		for i, d := range all {
			if got := float64(d.at(n^n>>1)) / (1 << 32); got != want[n][i] {
				t.Errorf("point %d, coordinate %d is %v, want %v", n, i, got, want[n][i])
			}
		}
	}
}
