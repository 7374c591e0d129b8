package host

import "testing"

// What trainables and schedulers ask for is a request that can be written and
// read again, or an error; B-038.
func FuzzRequestedResources(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRequest(text)
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		again, err := parseRequest(granted(*r))
		if err != nil || again.String() != r.String() {
			t.Errorf("%s became %v (%v)", r, again, err)
		}
	})
}
