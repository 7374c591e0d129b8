// Package totals sums the counters that trainables report per iteration (B-016):
// timesteps_this_iter makes timesteps_total and timesteps_since_restore.
package totals

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

const (
	perIteration = "_this_iter"
	total        = "_total"
	sinceRestore = "_since_restore"
)

// Sums are the totals of one trial.
type Sums struct{ total, since map[string]float64 }

// New are the totals of a trial that has reported nothing.
func New() *Sums { return &Sums{map[string]float64{}, map[string]float64{}} }

// Begin starts an attempt. The totals become those of the results that still count, over all stretches
// of the trial, as the machine knows them. Results after the checkpoint will be reported again (B-055,
// B-061).
func (s *Sums) Begin(m *core.Machine, no core.TrialNo) {
	clear(s.total)
	clear(s.since)
	m.EachSummaryOfAll(no, func(id core.MetricID, x stat.Summary) {
		if name, ok := counter(m.MetricName(id)); ok && x.Finite > 0 {
			s.total[name] = float64(s.total[name] + whole(float64(x.Mean*float64(x.Finite))))
		}
	})
}

// whole removes the rounding error of a mean of whole numbers.
func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) <= 1e-9*math.Abs(x) {
		return n
	}
	return x
}

// Add counts a metric of a result, if it is a counter.
func (s *Sums) Add(metric string, x float64) {
	if name, ok := counter(metric); ok {
		s.total[name] = float64(s.total[name] + x)
		s.since[name] = float64(s.since[name] + x)
	}
}

// Each calls f for each total, sorted by name.
func (s *Sums) Each(f func(name string, x float64)) {
	if len(s.total) == 0 {
		return // no counters: the usual case
	}
	for _, name := range slices.Sorted(maps.Keys(s.total)) {
		f(name+sinceRestore, s.since[name])
		f(name+total, s.total[name])
	}
}

// counter returns the name of what a metric counts per iteration.
func counter(metric string) (name string, ok bool) {
	name, ok = strings.CutSuffix(metric, perIteration)
	return name, ok && name != "time"
}

// CounterOf returns the metric that name is the total of, if there can be one.
func CounterOf(name string) (metric string, ok bool) {
	for _, suffix := range []string{total, sinceRestore} {
		if of, is := strings.CutSuffix(name, suffix); is && of != "" && of != "time" && of != "iterations" {
			return of + perIteration, true
		}
	}
	return "", false
}
