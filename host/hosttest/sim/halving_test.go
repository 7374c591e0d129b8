package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
)

// halving is a second, slow implementation of asha's rule: stopping and promotion, in several
// brackets. It follows what the scheduler was told, and says what must be decided.
type halving struct {
	on       bool
	maximum  bool
	promotes bool
	max      uint64
	factor   int
	seed     uint64 // of brackets
	brackets []ladder
	next     map[core.TrialNo]int // rung
	over     map[core.TrialNo]bool
	held     map[core.TrialNo]hold
	last     map[core.TrialNo]resultKey
	must     map[uint64]core.Verdict
	of       map[uint64]core.TrialNo // the trial of each result
	// planned is the fewest trials that the scheduler may wait for. When it has seen them all, it may give
	// up those that it holds.
	planned, added int
	gathered       bool
}

// ladder is a bracket.
type ladder struct {
	at      []uint64
	entries [][]entry
}

type entry struct {
	no       core.TrialNo
	loss     float64
	promoted bool
}

// hold says how a trial stands that the rule pauses.
type hold uint8

const (
	atLarge hold = iota
	pausing
	held
)

func newHalving(p *plan, seed uint64) *halving {
	o := options(p.scheduler)
	h := &halving{on: o["plugin"] == "asha", maximum: p.maximum, seed: seed,
		planned: p.first * max(int(p.experiment.Repeat), 1),
		next:    map[core.TrialNo]int{}, over: map[core.TrialNo]bool{}, held: map[core.TrialNo]hold{},
		last: map[core.TrialNo]resultKey{}, must: map[uint64]core.Verdict{}, of: map[uint64]core.TrialNo{}}
	if !h.on {
		return h
	}
	number := func(name string, otherwise int) (n int) {
		if _, err := fmt.Sscan(o[name], &n); err != nil {
			return otherwise
		}
		return n
	}
	h.max, h.factor, h.promotes = uint64(number("max", 0)), number("reduction_factor", 3), o["type"] == "promotion"
	var at []uint64
	for r := uint64(number("grace", 1)); r <= h.max; r *= uint64(h.factor) {
		at = append(at, r)
	}
	for i := range number("brackets", 1) {
		h.brackets = append(h.brackets, ladder{at[i:], make([][]entry, len(at)-i)})
	}
	return h
}

// options reads {name: value, name: value}.
func options(text string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(strings.Trim(text, "{}"), ", ") {
		name, value, _ := strings.Cut(part, ": ")
		all[name] = value
	}
	return all
}

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
	case core.SawAdded:
		h.added++
		h.gathered = h.gathered || h.added >= h.planned
	case core.SawSearchEnded:
		h.gathered = true
	case core.SawStarted:
		h.started(o.Trial)
	case core.SawPaused:
		if h.held[o.Trial] == pausing {
			h.held[o.Trial] = held
		}
	case core.SawResult:
		if h.held[o.Trial] == atLarge {
			h.of[o.Number] = o.Trial
			h.must[o.Number] = h.decide(o.Trial, o.Iteration, h.loss(produced[k]))
		}
	case core.SawCompleted:
		if last, ok := h.last[o.Trial]; ok && !h.over[o.Trial] && h.held[o.Trial] == atLarge {
			h.enter(o.Trial, o.Iteration, h.loss(produced[last]))
		}
		h.over[o.Trial] = true
	case core.SawFailed, core.SawRemoved:
		h.over[o.Trial] = true
	}
}

// started: a trial that was to pause continues. This rule does not know whether it was given up in the
// meantime, and stops comparing.
func (h *halving) started(no core.TrialNo) {
	if h.held[no] == pausing && h.gathered {
		h.on = false
	}
	h.held[no] = atLarge
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
	best, entered := h.enter(no, iteration, loss)
	switch {
	case iteration >= h.max, entered && math.IsInf(loss, 1), entered && !best && !h.promotes:
		h.over[no] = true
		return core.Stop
	case entered && !best:
		h.held[no] = pausing
		return core.Pause
	}
	return core.Continue
}

// enter records a loss at the highest new rung, if there is one, and reports whether it is among the
// best there.
func (h *halving) enter(no core.TrialNo, iteration uint64, loss float64) (best, entered bool) {
	b := &h.brackets[h.bracket(no)]
	rung := -1
	for i := h.next[no]; i < len(b.at) && b.at[i] <= iteration; i++ {
		rung = i
	}
	if rung < 0 {
		return false, false
	}
	h.next[no] = rung + 1
	b.entries[rung] = append(b.entries[rung], entry{no: no, loss: loss})
	return h.best(b.entries[rung]), true
}

// best reports whether the last entry of a rung is among its best.
func (h *halving) best(all []entry) bool {
	last := &all[len(all)-1]
	sorted := make([]*entry, len(all))
	for i := range all {
		sorted[i] = &all[i]
	}
	slices.SortStableFunc(sorted, func(a, b *entry) int { return cmp.Compare(a.loss, b.loss) })
	if !h.promotes {
		return last.loss <= sorted[max(1, len(all)/h.factor)-1].loss
	}
	for _, e := range sorted[:len(all)/h.factor] { // an earlier entry among them was promoted
		e.promoted = true
	}
	return last.promoted
}

// bracket draws a trial's bracket: one with k rungs has factor^(k-1)/k of the trials.
func (h *halving) bracket(no core.TrialNo) int {
	if len(h.brackets) == 1 {
		return 0
	}
	weights, sum := make([]float64, len(h.brackets)), 0.0
	for i, b := range h.brackets {
		weights[i] = math.Pow(float64(h.factor), float64(len(b.at)-1)) / float64(len(b.at))
		sum += weights[i]
	}
	z := h.seed + (uint64(no)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	u := float64((z^z>>31)>>11) / (1 << 53) * sum
	for i, weight := range weights {
		if u -= weight; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// compare compares the scheduler's answers with the rule. A trial that the scheduler has given up is
// over for it, even if the user continued it at that moment. If that happened earlier, in this answer
// or a previous one, the rule has counted results that the scheduler has not, and stops comparing.
func (h *halving) compare(e *core.SchedulerDecided) error {
	ended := map[core.TrialNo]bool{}
	for _, c := range e.Commands {
		if c.Kind == core.EndTrial {
			h.on = h.on && (h.over[c.Trial] || h.held[c.Trial] != atLarge)
			h.over[c.Trial], ended[c.Trial] = true, true
		}
	}
	for _, d := range e.Decisions {
		h.on = h.on && (!ended[h.of[d.Number]] || d.Verdict == h.must[d.Number])
		if must, ok := h.must[d.Number]; ok && h.on && d.Verdict != must {
			return fmt.Errorf("asha decides %d on result %d, and its rule says %d", d.Verdict, d.Number, must)
		}
	}
	return nil
}
