package tpe

import (
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/pareto"
)

// fronts ranks trials with several losses: first those that no other dominates (the first front),
// then those that no other dominates without the first front, and so on; within the last selected
// front, those that add most to the dominated volume.
type fronts struct {
	pool  []pareto.Scored
	total int
}

const (
	// maxPool is the size of the pool at which it is reduced to keepPool: by fronts, and within the
	// last selected front by crowding.
	maxPool  = 512
	keepPool = 256
	// maxVolume is the number of objectives up to which volumes are computed; for more, crowding
	// decides.
	maxVolume = 4
)

func (f *fronts) add(trial int, losses []float64) {
	f.total++
	f.pool = append(f.pool, pareto.Scored{Trial: trial, Losses: losses})
	if len(f.pool) > maxPool {
		f.pool = pareto.Choose(f.pool, keepPool, pareto.Crowded)
	}
}

func (f *fronts) remove(trial int, _ []float64) {
	f.total--
	f.pool = slices.DeleteFunc(f.pool, func(s pareto.Scored) bool { return s.Trial == trial })
}

func (f *fronts) size() int { return f.total }

func (f *fronts) best(k int) (trials []int, weights []float64) {
	cut := pareto.Voluminous
	if len(f.pool) > 0 && len(f.pool[0].Losses) > maxVolume {
		cut = pareto.Crowded
	}
	for _, s := range pareto.Choose(f.pool, k, cut) {
		trials, weights = append(trials, s.Trial), append(weights, 1)
	}
	return trials, weights
}
