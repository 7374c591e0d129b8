package view

import "testing"

// A checkpoint is promised only if there is one.
func TestRestarts(t *testing.T) {
	for _, c := range []struct {
		begun, resumable int
		want             string
	}{
		{0, 0, ""},
		{2, 0, "starts from the beginning: it has no checkpoint"},
		{2, 1, "starts from its last checkpoint, or from the beginning if it has none"},
		{2, 2, "starts from its last checkpoint"},
	} {
		s := Status{Begun: Begun{Trials: c.begun, Resumable: c.resumable}}
		if got := s.Restarts(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	s := Status{Begun: Begun{Trials: 2}, External: External{Manual: true}}
	if got := s.Restarts(); got != "continues after its last recorded iteration" {
		t.Errorf("trials of workers: %q", got)
	}
}
