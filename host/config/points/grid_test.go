package points

import (
	"math/big"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A product of many axes is counted up to a bound, and never wraps around.
func TestGridSizeIsBounded(t *testing.T) {
	for _, choices := range []int64{1, 2, 3, 10, 16, 1000} {
		s, want := &space.Space{}, big.NewInt(1)
		for axes := range 80 {
			limited := want
			if want.Cmp(big.NewInt(Most)) > 0 {
				limited = big.NewInt(Most)
			}
			if got := GridSize(s); got != limited.Uint64() {
				t.Errorf("%d axes of %d: %d points, want %v", axes, choices, got, limited)
			}
			s.Params = append(s.Params, space.Param{Grid: true, Choices: make([][]byte, choices)})
			want.Mul(want, big.NewInt(choices))
		}
	}
	for _, c := range [][3]int64{{0, 5, 0}, {Most, 0, 0}, {3, 4, 12}, {Most, 2, Most}, {2, Most, Most},
		{Most, 1, Most}} {
		if got := Times(c[0], c[1]); got != c[2] {
			t.Errorf("%d times %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
