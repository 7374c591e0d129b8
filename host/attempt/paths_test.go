package attempt

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// An error names files of the host: the node's folder is removed with its lease.
func TestPathsHere(t *testing.T) {
	r := &run{dir: "/results/x/trials/0", start: &sdk.Trial{Dir: "/tmp/tunehost-1/h/1/trials/0"}}
	for text, want := range map[string]string{
		"its stderr is in /tmp/tunehost-1/h/1/trials/0/stderr": "its stderr is in /results/x/trials/0/stderr",
		"/tmp/tunehost-1/h/1/trials/00/x":                      "/tmp/tunehost-1/h/1/trials/00/x",
	} {
		if got := r.pathsHere(text); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
