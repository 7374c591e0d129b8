package view

import (
	"cmp"
	"errors"
	"math"

	"github.com/tunehost/tunehost/core"
)

// Thin keeps at most so many results of a trial, for a curve of a metric. It keeps the first, the
// last, and the least and largest value of each of equally long parts in between, so that extremes
// stay. NaN counts as an extreme. If points is below 2, or not below the number of results, it keeps
// all.
func Thin(all []Result, metric string, points int) []Result {
	if points < 2 || len(all) <= points {
		return all
	}
	out := make([]Result, 0, points)
	for _, i := range thinned(len(all), points, func(i int) (float64, bool) { return all[i].Metric(metric) }) {
		out = append(out, all[i])
	}
	return out
}

// thinned returns the places of the values that Thin keeps, of n.
func thinned(n, points int, value func(i int) (float64, bool)) (places []int) {
	if points < 2 || n <= points {
		for i := range n {
			places = append(places, i)
		}
		return places
	}
	places = append(make([]int, 0, points), 0)
	inner, parts := n-2, (points-2)/2
	for i := range parts {
		a, b := extremes(1+i*inner/parts, 1+(i+1)*inner/parts, value)
		places = append(places, a)
		if b != a {
			places = append(places, b)
		}
	}
	return append(places, n-1)
}

// extremes returns the places of the least and the largest value of a part, in order. NaN is larger than all; if
// none has a value, both are the first.
func extremes(from, to int, value func(i int) (float64, bool)) (first, second int) {
	least, largest, least0, largest0 := from, from, math.Inf(1), math.Inf(-1)
	for i := from; i < to; i++ {
		v, ok := value(i)
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

// Curves returns the results of a trial thinned to so many points for a metric; "" is the (first)
// objective's.
func (e *Experiment) Curves(no core.TrialNo, metric string, points int) ([]Result, error) {
	var err error
	failed := e.source.Look(func(s *State) { err = s.checkMetric(metric) })
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	all, err := e.Results(no)
	return Thin(all, cmp.Or(metric, e.Objectives()[0].Metric), points), err
}
