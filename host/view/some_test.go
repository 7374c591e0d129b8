package view_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// Readers of some of the trials always get the best one, as `best` and `trials --sort` mean it: by the last value, not
// by the best that a trial ever had.
func TestSomeTrialsHaveTheBest(t *testing.T) {
	w := write(t, strings.Replace(file, "trials: 4", "trials: 40", 1))
	w.Metrics = func(no core.TrialNo, iteration uint64) []float64 { // the higher it was, the lower it falls
		if iteration < w.Iterations {
			return []float64{float64(no), 0}
		}
		return []float64{-math.Abs(float64(no) - 17), 0}
	}
	w.Start(4)
	w.Run(-1)
	w.Close()
	e := open(t, w)
	best, _, err := e.Best(view.Query{})
	if err != nil || best.Number != 17 {
		t.Fatalf("the best is %d: %v", best.Number, err)
	}
	points, err := e.Points(4)
	if err != nil || !slices.Contains(points.Numbers, best.Number) {
		t.Errorf("points of %v: %v", points.Numbers, err)
	}
	curves, err := e.LearningCurves(view.CurvesQuery{Trials: 4})
	if err != nil || !slices.ContainsFunc(curves.Trials,
		func(c view.LearningCurve) bool { return c.Number == best.Number }) {
		t.Errorf("curves of %+v: %v", curves.Trials, err)
	}
}
