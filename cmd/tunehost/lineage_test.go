package main

import (
	"testing"

	"github.com/tunehost/tunehost/host/view"
)

// On a terminal time takes a quarter of the width, so that it is not cut.
func TestLineageFitsTerminals(t *testing.T) {
	t.Parallel()
	l := &view.Lineage{Stretches: []view.Stretch{{To: 24}}}
	for width, want := range map[int]int{0: 40, 20: 10, 80: 20, 300: 40} {
		x := axisOf(l, []int{0}, width)
		if x.cells != want || x.cell(24) != want || len(x.heading()) != want {
			t.Errorf("width %d: %+v, %q", width, x, x.heading())
		}
	}
}
