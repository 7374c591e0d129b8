package plot_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/plot"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// With several runs of each suggestion, plots mark what `tunehost best` finds, not the best single run.
func TestPlotsOfMeans(t *testing.T) {
	values := [][]float64{{0.5, 3}, {0.5, 3}, {0.9, 1}, {0.2, 1}, {0.7, 2}, {0.6, 2}}
	e := wrote(t, "means", strings.Replace(two, "trials: 30", "trials: 3\nrepeat: 2", 1), func(w *viewtest.Writer) {
		w.Names = []string{"accuracy", "cost"}
		w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return values[no] }
		w.Start(1)
		w.Run(-1)
		w.Close()
	})
	o := plot.Options{Metric: "accuracy"}
	f := drawOf(t, e, "slice", o)
	best := f.Panels[0].Marks[len(f.Panels[0].Marks)-1].Points
	if len(best) != 1 || math.Abs(best[0].Y-0.65) > 1e-9 {
		t.Errorf("the best is at %v", best)
	}
	for kind, key := range map[string]string{"slice": "best suggestion", "curves": "best: suggestion 2",
		"history": "suggestion", "parallel": "best suggestion", "edf": "means, 3 suggestions"} {
		f := drawOf(t, e, kind, o)
		if !slices.ContainsFunc(f.Keys, func(k figure.Key) bool { return k.Name == key }) {
			t.Errorf("%s explains %v", kind, f.Keys)
		}
	}
	f = drawOf(t, e, "pareto", plot.Options{})
	n := 0
	for _, m := range f.Panels[0].Marks {
		if m.Shape == figure.Dots {
			n += len(m.Points)
		}
	}
	if n != 3 {
		t.Errorf("%d dots for three suggestions", n)
	}
}

func drawOf(t *testing.T, e *view.Recorded, kind string, o plot.Options) *figure.Figure {
	t.Helper()
	k, err := plot.Find(kind, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Draw([]*view.Recorded{e}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Figure
}
