package bohb

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
		max, min, factor uint64
		want             string
	}{
		{81, 1, 3, "[{81 [1 3 9 27 81]} {27 [3 9 27 81]} {9 [9 27 81]} {6 [27 81]} {5 [81]}]"},
		{81, 4, 3, "[{9 [9 27 81]} {3 [27 81]} {3 [81]}]"},
		{100, 1, 4, "[{64 [1 6 25 100]} {16 [6 25 100]} {8 [25 100]} {4 [100]}]"},
		{9, 9, 3, "[{1 [9]}]"},
	} {
		if got := fmt.Sprint(band(c.max, c.min, c.factor)); got != c.want {
			t.Errorf("(%d, %d, %d): %s, want %s", c.max, c.min, c.factor, got, c.want)
		}
	}
}

// One whole round of (9, 3).
func TestOneRound(t *testing.T) {
	schedtest.Round(t, Plugin, 9+3+3, 4, `{"max": 9}`, map[uint64]int{1: 6, 3: 2 + 2, 9: 1 + 1 + 3})
}

func TestEveryTrialEnds(t *testing.T) {
	schedtest.Brackets(t, Plugin, `{"max": 9, "reduction_factor": 2}`)
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"max": 9}`, `{"max": 9, "min": 2, "reduction_factor": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
