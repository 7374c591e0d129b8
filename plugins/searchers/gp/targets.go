package gp

import (
	"cmp"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
	"github.com/tunehost/tunehost/plugins/searchers/internal/portable"
)

// scalarise computes one loss from each counted trial's losses, +Inf if they are not finite.
// Several losses are scaled to the range from 0 to 1 and combined: the largest weighted loss plus a
// twentieth of the weighted sum (augmented Chebyshev), with random weights (J. Knowles, ParEGO,
// 2006). Many suggestions together cover the whole front.
func (h *history) scalarise(places []int, rng space.Source) []float64 {
	losses := make([]float64, len(places))
	if h.objectives == 1 {
		for k, i := range places {
			losses[k] = h.trials[i].losses[0]
		}
		return worst(losses)
	}
	weights := simplex(h.objectives, rng)
	for m, weight := range weights {
		column := make([]float64, len(places))
		for k, i := range places {
			column[k] = h.trials[i].losses[m]
		}
		column = unit(warp(worst(column)))
		for k, x := range column {
			losses[k] = math.Max(losses[k], weight*x) + float64(0.05*weight*x)
		}
	}
	for k, i := range places {
		if !outcomes.Finite(h.trials[i].losses) {
			losses[k] = math.Inf(1)
		}
	}
	return losses
}

// worst replaces losses that are not finite by +Inf.
func worst(losses []float64) []float64 {
	for k, x := range losses {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			losses[k] = math.Inf(1)
		}
	}
	return losses
}

// simplex returns weights with sum 1, uniformly distributed.
func simplex(n int, rng space.Source) []float64 {
	weights, sum := make([]float64, n), 0.0
	for m := range weights {
		weights[m] = -portable.Log(1 - rng.Float64())
		sum += weights[m]
	}
	for m := range weights {
		weights[m] /= math.Max(sum, 1e-300)
	}
	return weights
}

// unit scales values to the range from 0 to 1.
func unit(values []float64) []float64 {
	low, high := slices.Min(values), slices.Max(values)
	for k := range values {
		values[k] = (values[k] - low) / math.Max(high-low, 1e-300)
	}
	return values
}

// choose returns at most limit trials, given their losses: a third are the best, a third the last,
// and a third a random sample of all, by hashes of their numbers. So with many trials the model
// stays accurate near the best ones, at the same cost.
func (h *history) choose(places []int, losses []float64, limit int) (some []int, theirs []float64) {
	if len(places) <= limit {
		return places, losses
	}
	order := make([]int, len(places))
	for k := range order {
		order[k] = k
	}
	taken := make([]bool, len(places))
	count := 0
	take := func(ordered []int, until int) {
		for _, k := range ordered {
			if count < until && !taken[k] {
				taken[k] = true
				count++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(losses[a], losses[b]) })
	take(order, limit/3)
	hashes := make([]uint64, len(places))
	for k, i := range places {
		order[len(order)-1-k], hashes[k] = k, mix(uint64(h.trials[i].number))
	}
	take(order, limit*2/3)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	take(order, limit)
	for k := range places {
		if taken[k] {
			some, theirs = append(some, places[k]), append(theirs, losses[k])
		}
	}
	return some, theirs
}

// maxStopped is how many of the last trials that were stopped early are in the model, with several
// objectives.
const maxStopped = 48

// withStopped adds the last trials that were stopped before their losses could be compared. They
// were worse than trials that continued, so they count as worse than three quarters of these.
func (h *history) withStopped(places []int, losses []float64) ([]int, []float64) {
	sorted := slices.Sorted(slices.Values(losses))
	finite, _ := slices.BinarySearch(sorted, math.Inf(1))
	last := h.stopped[max(0, len(h.stopped)-maxStopped):]
	if finite == 0 || len(last) == 0 {
		return places, losses
	}
	loss := sorted[finite*3/4]
	return slices.Concat(places, last), slices.Concat(losses, slices.Repeat([]float64{loss}, len(last)))
}

// mix hashes a number (the finaliser of G. Steele's SplitMix64).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
