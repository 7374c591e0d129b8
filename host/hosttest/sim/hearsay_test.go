package sim

import (
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var kinds = map[core.ObservationKind]sdk.EventKind{
	core.SawAdded: sdk.TrialAdded, core.SawStarted: sdk.TrialStarted, core.SawResult: sdk.ResultReported,
	core.SawPaused:    sdk.TrialPaused,
	core.SawCompleted: sdk.TrialCompleted, core.SawFailed: sdk.TrialFailed, core.SawRemoved: sdk.TrialRemoved,
	core.SawCheckpoint: sdk.CheckpointSaved, core.SawRequeued: sdk.TrialRequeued, core.SawEnd: sdk.ExperimentEnded,
	core.SawSearchEnded: sdk.SearchEnded,
}

// expected returns what plugins are told of an observation, without the metrics beside the objective.
// It looks at the machine right after the event.
func (b *books) expected(o core.Observation, to core.Audience) sdk.Event {
	e := sdk.Event{Number: o.Number, Kind: kinds[o.Kind], Trial: uint32(o.Trial), Attempt: o.Attempt,
		Iteration: o.Iteration, Reason: o.Reason()}
	runs := []core.TrialNo{o.Trial}
	if o.Runs > 0 { // of one suggestion, told together
		e.Trial /= o.Runs
		for i := core.TrialNo(1); i < core.TrialNo(o.Runs); i++ {
			runs = append(runs, o.Trial+i)
		}
	}
	switch o.Kind {
	case core.SawAdded:
		e.Point = b.pointOf(o.Trial)
	case core.SawResult:
		e.Losses = []float64{b.lossOf(b.produced[resultKey{attempt{o.Trial, o.Attempt}, o.Iteration}])}
		e.Seconds = b.trained(runs)
	case core.SawCompleted:
		e.Losses, e.Seconds = b.meanLoss(runs, o.Runs > 0), b.trained(runs)
	case core.SawRemoved:
		if o.Runs == 0 && o.Last {
			e.Losses = b.meanLoss(runs, false)
		}
	}
	if o.Runs > 0 && o.Kind != core.SawAdded {
		e.Seconds = b.trained(runs)
	}
	if to == core.ToSearcher {
		b.asSuggested(&e, o)
		b.untried(&e, o)
	}
	return e
}

func (b *books) pointOf(no core.TrialNo) space.Point {
	p, err := config.PointOf(b.w.plan.experiment.Space, b.machine.Params(no))
	if err != nil {
		b.fail("trial %d: %v", no, err)
	}
	return p
}

// lossOf converts a value as for plugins.
func (b *books) lossOf(value float64) float64 {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.Inf(1)
	case b.w.plan.maximum:
		return -value
	}
	return value
}

// trained returns the total training time of trials in seconds.
func (b *books) trained(runs []core.TrialNo) (sum float64) {
	for _, no := range runs {
		sum += float64(b.machine.View(no).TrainNS) / 1e9
	}
	return sum
}

// meanLoss returns the mean of the last results, of all runs or of those that count; nil if there is
// none.
func (b *books) meanLoss(runs []core.TrialNo, counting bool) []float64 {
	sum, n := 0.0, 0
	for _, no := range runs {
		if v := b.machine.View(no); v.Results == 0 || counting && !b.machine.Counts(no) {
			continue
		}
		if counting { // of a suggestion
			if s, ok := b.machine.Suggested(no); ok {
				sum += b.suggestedLoss(no, &s)
				n++
			}
			continue
		}
		last := math.NaN()
		if s, ok := b.machine.Summary(no, b.machine.Metric("score")); ok {
			last = s.Last
		}
		sum += b.lossOf(last)
		n++
	}
	if n == 0 {
		return nil
	}
	if sum /= float64(n); math.IsInf(sum, 0) {
		sum = math.Inf(1)
	}
	return []float64{sum}
}

func eventHash(x *sdk.Event) uint64 {
	h := mix(x.Number, uint64(x.Kind), uint64(x.Trial), uint64(x.Attempt), x.Iteration, uint64(len(x.Losses)),
		math.Float64bits(x.Seconds), pointHash(x.Point))
	for _, loss := range x.Losses {
		h = mix(h, math.Float64bits(loss+0)) // a loss of 0 and one of -0 are equal
	}
	for _, c := range []byte(x.Reason) {
		h = mix(h, uint64(c))
	}
	return h
}
