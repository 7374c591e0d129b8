package course

import (
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// Moment is a point in the course of an experiment.
type Moment struct {
	// At is the running time in nanoseconds.
	At int64
	// Trials, Results and Ended count what there is so far: trials, results, trials that have ended.
	Trials  int
	Results uint64
	Ended   int
}

// Improvement is a result that is better than all before.
type Improvement struct {
	Moment
	Trial     core.TrialNo
	Iteration uint64
	Value     float64
}

// End is the end of a trial.
type End struct {
	Moment
	Trial core.TrialNo
}

// Bests has the improvements of each metric, in both directions, and the ends of trials.
type Bests struct {
	metrics []both // by id
	ends    []End
}

// both are the improvements toward the least and the largest value.
type both [2][]Improvement

func (b *Bests) result(o *core.Observation, at Moment) {
	for _, x := range o.Metrics {
		if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
			continue
		}
		for int(x.ID) >= len(b.metrics) {
			b.metrics = append(b.metrics, both{})
		}
		for i, mode := range []stat.Mode{stat.Min, stat.Max} {
			list := &b.metrics[x.ID][i]
			if n := len(*list); n == 0 || stat.Better(x.Value, (*list)[n-1].Value, mode) {
				*list = append(*list, Improvement{at, o.Trial, o.Iteration, x.Value})
			}
		}
	}
}

func (b *Bests) end(no core.TrialNo, at Moment) { b.ends = append(b.ends, End{at, no}) }

// Improvements returns the results that were better than all before.
func (b *Bests) Improvements(id core.MetricID, mode stat.Mode) []Improvement {
	switch {
	case int(id) >= len(b.metrics):
		return nil
	case mode == stat.Max:
		return b.metrics[id][1]
	}
	return b.metrics[id][0]
}

// Ends returns the ends of trials, in order. A trial that was run again has several.
func (b *Bests) Ends() []End { return b.ends }

func (b *Bests) bytes() (n int64) {
	for _, x := range b.metrics {
		n += int64(cap(x[0])+cap(x[1])) * 64
	}
	return n + int64(cap(b.ends))*40
}
