package experiments

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// The parts of a list are those of the whole, for each order and expression, also after something was recorded.
func TestPartsOfALists(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 1)
	w.Start(1)
	w.Run(-1)
	w.Close()
	x, done, err := New(root).Get("a")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, c := range []view.Chosen{{}, {Sort: "accuracy"}, {Sort: "-number"}, {Where: "number > 0"},
		{States: []core.State{core.Terminated}, Sort: "-lr"}} {
		whole, err := x.Experiment.Choose(c)
		if err != nil {
			t.Fatal(err)
		}
		for offset := range 4 {
			for limit := range 3 {
				c.Offset, c.Limit = offset, limit
				want := whole.Numbers[min(offset, len(whole.Numbers)):]
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				got, err := x.Choose(c)
				if err != nil || !slices.Equal(got.Numbers, want) || got.Fitting != whole.Fitting ||
					got.Total != whole.Total {
					t.Errorf("%+v: %+v, %v, want %v of %d", c, got, err, want, whole.Fitting)
				}
			}
		}
	}
}
