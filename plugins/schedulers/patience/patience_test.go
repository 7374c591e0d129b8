package patience

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func TestPlugin(t *testing.T) { schedtest.Plugin(t, Plugin) }

// B-010, B-015
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestBatchingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		losses := rapid.SliceOfN(rapid.Float64Range(0, 1), 23, 23).Draw(t, "losses")
		drawn := 0
		sim := schedtest.Sim{
			Trials: 9, Workers: 3, Length: 9, Burst: 3,
			Loss: func(trial uint32, iteration uint64) float64 { return losses[(uint64(trial)*5+iteration)%23] },
			Pick: func(n int) int { drawn++; return int(losses[drawn%23]*1000) % n },
		}
		first, _, err := Plugin.Open(schedtest.Problem(9), []byte(`{"patience": 2}`))
		if err != nil {
			t.Fatal(err)
		}
		h, err := sim.Run(first)
		if err != nil {
			t.Fatal(err)
		}
		second, _, _ := Plugin.Open(schedtest.Problem(9), []byte(`{"patience": 2}`))
		if err := schedtest.Cuts(second, h, sim.Pick); err != nil {
			t.Fatal(err)
		}
	})
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"patience": 2}`, `{"patience": 2, "limit": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
