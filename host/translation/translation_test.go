package translation

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// TestEventKinds: plugins have a word for all that the core sees.
func TestEventKinds(t *testing.T) {
	for k := core.SawAdded; k <= core.SawSearchEnded; k++ {
		if eventKinds[k] == 0 {
			t.Errorf("observation %d is none of the plugins'", k)
		}
	}
}
