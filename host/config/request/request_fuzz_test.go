package request

import (
	"testing"

	"github.com/tunehost/tunehost/core/resource"
)

// A request of a trainable or scheduler can be written and read again, or is refused with an error;
// B-038.
func FuzzRequestedResources(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(text)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if len(r.Bundles()) > 1 || r.Strategy() != resource.Pack {
			_ = Sum(*r)
			return // a sum is not read again
		}
		again, err := Parse(Sum(*r))
		if err != nil || again.String() != r.String() {
			t.Errorf("%s became %v (%v)", r, again, err)
		}
	})
}
