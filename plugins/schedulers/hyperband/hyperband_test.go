package hyperband

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestBrackets(t *testing.T) {
	for _, c := range []struct {
		max, factor uint64
		want        string
	}{
		{81, 3, "[{5 [81]} {8 [27 81]} {15 [9 27 81]} {34 [3 9 27 81]} {81 [1 3 9 27 81]}]"},
		{100, 4, "[{4 [100]} {8 [25 100]} {22 [6 25 100]} {64 [1 6 25 100]}]"},
		{1, 3, "[{1 [1]}]"},
		{3, 3, "[{2 [3]} {3 [1 3]}]"},
	} {
		if got := fmt.Sprint(band(c.max, c.factor)); got != c.want {
			t.Errorf("(%d, %d): %s, want %s", c.max, c.factor, got, c.want)
		}
	}
}

// One whole round of (81, 3).
func TestOneRound(t *testing.T) {
	// 81 > 27 > 9 > 3 > 1, 34 > 12 > 4 > 2, 15 > 5 > 2, 8 > 3, 5.
	want := map[uint64]int{1: 54, 3: 18 + 22, 9: 6 + 8 + 10, 27: 2 + 2 + 3 + 5, 81: 1 + 2 + 2 + 3 + 5}
	schedtest.Round(t, Plugin, 5+8+15+34+81, 7, `{}`, want)
}

func TestEveryTrialEnds(t *testing.T) {
	schedtest.Brackets(t, Plugin, `{"max": 9, "reduction_factor": 2}`)
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"max": 9}`, `{"max": 9, "reduction_factor": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
