package pluginset

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-110: what the file says of reuse is done, or there is a reason.
func TestUnreused(t *testing.T) {
	own, reusable := sdk.TrainableTraits{}, sdk.TrainableTraits{Reusable: true}
	shared := sdk.TrainableTraits{Reusable: true, Shared: true}
	for _, c := range []struct {
		reuse  string
		traits sdk.TrainableTraits
		warns  bool
	}{
		{"auto", own, false}, {"auto", reusable, false}, {"auto", shared, false},
		{"true", own, true}, {"true", reusable, false}, {"true", shared, false},
		{"false", own, false}, {"false", reusable, false}, {"false", shared, true},
	} {
		if why := unreused(c.reuse, c.traits); (why != "") != c.warns {
			t.Errorf("reuse: %s with %+v: %q", c.reuse, c.traits, why)
		}
	}
}
