package inherit

import (
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/view"
)

// learnedResult is a result of a learned trial, with the values of the objectives in their order.
type learnedResult struct {
	Iteration uint64     `json:"iteration"`
	Values    []*float64 `json:"values"`
	TrainNS   int64      `json:"train_ns,omitempty"`
}

// exact is the iteration up to which all results are learned. Of later ones those that are a twentieth of the
// iterations apart, and those at which trials ended: searchers compare trials there.
const exact = 40

// reports are what the trials of another experiment reported.
type reports struct {
	objectives []config.Objective
	all        map[core.TrialNo][]view.Result
	ends       map[uint64]int // trials that ended at an iteration
}

func reportsOf(other *view.Recorded, objectives []config.Objective) (r reports, err error) {
	r = reports{objectives: objectives, ends: map[uint64]int{}}
	r.all, err = other.AllResults(func(core.TrialNo) bool { return true })
	for _, list := range r.all {
		if n := len(list); n > 0 {
			r.ends[list[n-1].Iteration]++
		}
	}
	return r, err
}

// of returns those of a trial in a part of its training.
func (r *reports) of(no core.TrialNo, s *core.Stretch) (list []learnedResult) {
	next := uint64(0)
	for _, x := range r.all[no] {
		if !s.Has(x.Attempt) || x.Iteration < next && r.ends[x.Iteration] < 2 {
			continue
		}
		if x.Iteration >= exact && x.Iteration >= next {
			next = x.Iteration + max(1, x.Iteration/20)
		}
		list = append(list, learnedResult{Iteration: x.Iteration, Values: r.values(x.Metrics),
			TrainNS: int64(x.Seconds * 1e9)})
	}
	return list
}

// values are the objectives of a result; null: no finite number.
func (r *reports) values(metrics []view.Metric) (list []*float64) {
	for _, o := range r.objectives {
		value := math.NaN()
		for _, m := range metrics {
			if m.Name == o.Metric {
				value = m.Value
			}
		}
		list = append(list, orNull(value))
	}
	return list
}
