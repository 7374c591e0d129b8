package plot

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// The axis of trials has ticks only where trials are.
func TestTimelineHasTicksAtTrialsAlone(t *testing.T) {
	for _, trials := range []int{1, 4, 10, 1000} {
		w := viewtest.New(filepath.Join(t.TempDir(), "digits"), fmt.Appendf(nil, "version: 1\nobjective: {metric: "+
			"accuracy, mode: max}\nspace: {lr: {uniform: [0, 1]}}\ntrials: %d\n", trials), 1)
		w.Start(4)
		w.Run(-1)
		w.Close()
		e, err := view.Open(w.Dir.Path())
		if err != nil {
			t.Fatal(err)
		}
		f, err := timeline(&sources{list: []*view.Recorded{e}})
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{3, 6, 12} {
			for _, tick := range f.Panels[0].Y.Ticks(most) {
				if tick.Value < 0 || tick.Value >= float64(trials) {
					t.Errorf("%d trials: a tick at %v", trials, tick.Value)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
