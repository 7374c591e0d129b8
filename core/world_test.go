package core_test

import (
	"flag"
	"testing"

	"github.com/tunehost/tunehost/core/coretest"
)

var (
	seeds = flag.Int("seeds", 2000, "how many worlds TestWorlds lives through")
	seed  = flag.Int64("seed", -1, "the one world that TestWorlds lives through, and tells of")
)

// TestWorlds runs worlds in which everything goes wrong, from seeds, until it goes right: see
// coretest.World.
func TestWorlds(t *testing.T) {
	if *seed >= 0 {
		if err := coretest.Live(uint64(*seed), func(s string) { t.Log(s) }); err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() {
		*seeds = min(*seeds, 200)
	}
	for _, part := range []int{0, 1} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for s := part; s < *seeds; s += 2 {
				if err := coretest.Live(uint64(s), nil); err != nil {
					t.Errorf("%v\ntell it: go test ./core -run TestWorlds -seed=%d -v", err, s)
					return
				}
			}
		})
	}
}
