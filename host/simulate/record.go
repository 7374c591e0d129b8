package simulate

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/simulate/curves"
	"github.com/tunehost/tunehost/host/view"
)

// Record says how a simulation went beside the record that it was made of.
type Record struct {
	// Iterations and Seconds are what the recorded trials trained, Trained the iterations of the
	// simulated ones; what a trial took over with a checkpoint was trained by another.
	Iterations, Trained uint64
	Seconds             float64
	// Changed is how many trials continued with other parameters or from another trial's checkpoint; only what
	// they did before is known.
	Changed int
	// LeftOut is how many trials of the record reported nothing, so that they are not simulated; LeftOutFailed of
	// them failed.
	LeftOut, LeftOutFailed int
	// Repeats says that several runs of a suggestion were recorded, each of which is a trial here.
	Repeats bool
	// Best is the best recorded trial by its last value; nil when none reported a finite value.
	Best *RecordedBest
}

// RecordedBest is the best recorded trial, and what became of it in the simulation.
type RecordedBest struct {
	Number core.TrialNo
	Value  float64
	// Iterations is how long it trained, Reached how long it did in the simulation, which ended it
	// there for the Reason.
	Iterations, Reached uint64
	Reason              string
}

// Kept says that the simulation trained it as long as it was trained.
func (b *RecordedBest) Kept() bool { return b.Reached >= b.Iterations }

func compare(e *view.Recorded, rows []curves.Row, trials []view.Trial, x *simulation) *Record {
	r, m := &Record{Repeats: e.Config.Repeat > 1, Trained: x.iterations}, x.machine
	for _, row := range rows {
		last := row.Reports[len(row.Reports)-1]
		r.Iterations, r.Seconds = r.Iterations+last.Iteration-row.Begun, r.Seconds+last.Seconds
	}
	for _, t := range trials {
		if _, whole := firstStretch(e, t.Number); !whole {
			r.Changed++
		}
	}
	i, value := bestRow(rows, m.Spec().Objectives[0])
	if i < 0 {
		return r
	}
	r.Best = &RecordedBest{Number: trials[i].Number, Value: value,
		Iterations: rows[i].Reports[len(rows[i].Reports)-1].Iteration}
	if i < m.Trials() { // the simulated trials have the numbers of the rows
		v := m.View(core.TrialNo(i))
		r.Best.Reached, r.Best.Reason = v.Iteration, v.Reason()
	}
	return r
}

// bestRow returns the row with the best last value, or -1: that of the last report that has one. A trial that failed
// counts, as it does for `best`.
func bestRow(rows []curves.Row, o core.Objective) (best int, value float64) {
	best = -1
	for i, row := range rows {
		k := slices.Index(row.Metrics, o.Metric)
		if k < 0 {
			continue
		}
		x := lastOf(row.Reports, k)
		if !math.IsNaN(x) && !math.IsInf(x, 0) && (best < 0 || stat.Better(x, value, o.Mode)) {
			best, value = i, x
		}
	}
	return best, value
}

// lastOf returns the last value of a metric; NaN if there is none.
func lastOf(reports []curves.Report, metric int) float64 {
	for i := len(reports) - 1; i >= 0; i-- {
		if reports[i].Has(metric) {
			return reports[i].Values[metric]
		}
	}
	return math.NaN()
}
