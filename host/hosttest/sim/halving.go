package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
)

// halving is asha's rule, written once more and slowly: stopping, one bracket. It
// follows what the scheduler was told, and says what must be decided.
type halving struct {
	on      bool
	maximum bool
	max     uint64
	factor  int
	at      []uint64 // rungs
	losses  [][]float64
	next    map[core.TrialNo]int // rung
	over    map[core.TrialNo]bool
	last    map[core.TrialNo]resultKey
	must    map[uint64]core.Verdict
}

func newHalving(p *plan) *halving {
	h := &halving{maximum: p.maximum, next: map[core.TrialNo]int{}, over: map[core.TrialNo]bool{}, last: map[core.TrialNo]resultKey{}, must: map[uint64]core.Verdict{}}
	grace := uint64(1)
	if n, _ := fmt.Sscanf(p.scheduler, "{plugin: asha, max: %d, reduction_factor: %d, grace: %d}", &h.max, &h.factor, &grace); n == 0 {
		return h
	}
	if h.factor == 0 {
		h.factor = 3
	}
	h.on = !promotes(p.scheduler)
	for r := grace; r <= h.max; r *= uint64(h.factor) {
		h.at = append(h.at, r)
		h.losses = append(h.losses, nil)
	}
	return h
}

func promotes(scheduler string) bool { return len(scheduler) > 50 }

// hear follows an observation.
func (h *halving) hear(o core.Observation, produced map[resultKey]float64) {
	if !h.on {
		return
	}
	k := resultKey{attempt{o.Trial, o.Attempt}, o.Iteration}
	if o.Kind == core.SawResult {
		h.last[o.Trial] = k
	}
	if o.To&core.ToScheduler == 0 {
		return
	}
	switch o.Kind {
	case core.SawResult:
		h.must[o.Number] = h.decide(o.Trial, o.Iteration, h.loss(produced[k]))
	case core.SawCompleted:
		if last, ok := h.last[o.Trial]; ok && !h.over[o.Trial] {
			h.enter(o.Trial, o.Iteration, h.loss(produced[last]))
		}
		h.over[o.Trial] = true
	case core.SawFailed, core.SawRemoved:
		h.over[o.Trial] = true
	}
}

func (h *halving) loss(value float64) float64 {
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.Inf(1)
	case h.maximum:
		return -value
	}
	return value
}

func (h *halving) decide(no core.TrialNo, iteration uint64, loss float64) core.Verdict {
	if h.over[no] {
		return core.Continue
	}
	rung := h.enter(no, iteration, loss)
	if iteration >= h.max || rung >= 0 && !h.best(rung, loss) {
		h.over[no] = true
		return core.Stop
	}
	return core.Continue
}

// enter records a loss at the highest rung reached that is new; -1 for none.
func (h *halving) enter(no core.TrialNo, iteration uint64, loss float64) int {
	rung := -1
	for i := h.next[no]; i < len(h.at) && h.at[i] <= iteration; i++ {
		rung = i
	}
	if rung >= 0 {
		h.next[no] = rung + 1
		h.losses[rung] = append(h.losses[rung], loss)
	}
	return rung
}

func (h *halving) best(rung int, loss float64) bool {
	all := slices.Sorted(slices.Values(h.losses[rung]))
	kept := max(1, len(all)/h.factor)
	return !math.IsInf(loss, 1) && loss <= all[kept-1]
}

// compare holds the scheduler's answers against the rule.
func (h *halving) compare(e *core.SchedulerDecided) error {
	for _, d := range e.Decisions {
		if must, ok := h.must[d.Number]; ok && h.on && d.Verdict != must {
			return fmt.Errorf("asha decides %d on result %d, and its rule says %d", d.Verdict, d.Number, must)
		}
	}
	return nil
}
