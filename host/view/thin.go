package view

import (
	"cmp"
	"errors"
	"math"

	"github.com/tunehost/tunehost/core"
)

// Thin keeps at most so many results of a trial, for a curve of a metric: the first, the
// last, and of what lies between, cut in parts of the same length, the least and the
// largest value of each part, so that extremes stay. What is no number counts as an
// extreme. points below 2, or not below their number, keep all.
func Thin(all []Result, metric string, points int) []Result {
	if points < 2 || len(all) <= points {
		return all
	}
	out := append(make([]Result, 0, points), all[0])
	inner, parts := all[1:len(all)-1], (points-2)/2
	for i := range parts {
		part := inner[i*len(inner)/parts : (i+1)*len(inner)/parts]
		a, b := extremes(part, metric)
		out = append(out, part[a])
		if b != a {
			out = append(out, part[b])
		}
	}
	return append(out, all[len(all)-1])
}

// extremes are the places of the least and the largest value, the one that comes first
// before the other. NaN is larger than all; where no result has a value, it is the first.
func extremes(part []Result, metric string) (first, second int) {
	least, largest, least0, largest0 := 0, 0, math.Inf(1), math.Inf(-1)
	for i := range part {
		v, ok := part[i].Metric(metric)
		if !ok {
			continue
		}
		if v < least0 {
			least, least0 = i, v
		}
		if v > largest0 || v != v && largest0 == largest0 {
			largest, largest0 = i, v
		}
	}
	return min(least, largest), max(least, largest)
}

// Curves are the results of a trial thinned to so many points for a metric, "" for the
// (first) objective's.
func (e *Experiment) Curves(no core.TrialNo, metric string, points int) ([]Result, error) {
	var err error
	failed := e.source.Look(func(s *State) { err = s.checkMetric(metric) })
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	all, err := e.Results(no)
	return Thin(all, cmp.Or(metric, e.Objectives()[0].Metric), points), err
}
