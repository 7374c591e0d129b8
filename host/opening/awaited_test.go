package opening

import (
	"slices"
	"testing"
)

// Those that are open are not waited for.
func TestAwaited(t *testing.T) {
	var told []string
	a := &awaited{tell: func(what string) { told = append(told, what) }}
	a.during("searcher x", func() {
		a.during("scheduler y", func() {})
		a.during("trainable z", func() {})
	})
	want := []string{"searcher x", "searcher x, scheduler y", "searcher x", "searcher x, trainable z", "searcher x"}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
