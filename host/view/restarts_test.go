package view

import (
	"testing"

	"github.com/tunehost/tunehost/core"
)

// A checkpoint is promised only where there is one.
func TestRestarts(t *testing.T) {
	for _, c := range []struct {
		running, resumable int
		want               string
	}{
		{0, 0, ""},
		{2, 0, "starts from the beginning: it has no checkpoint"},
		{2, 1, "starts from its last checkpoint, or from the beginning where it has none"},
		{2, 2, "starts from its last checkpoint"},
	} {
		s := Status{Counts: map[core.State]int{core.Running: c.running}, Resumable: c.resumable}
		if got := s.Restarts(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
