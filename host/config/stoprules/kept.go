package stoprules

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/totals"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Fields that the host adds to results, counted from the begin of the attempt (B-016).
const (
	sinceIterations = "iterations_since_restore"
	sinceTime       = "time_since_restore"
)

// keeper computes the host's own fields of results as far as rules use them: counts of an attempt, and
// totals of a trial's counters.
type keeper struct {
	needed  bool
	reach   []config.MetricRule // rules over these fields
	courses map[core.TrialNo]*attemptTotals
	limit   int // number of courses at which those of ended attempts are removed
}

// attemptTotals counts what a trial's present attempt has done.
type attemptTotals struct {
	attempt uint32
	from    uint64 // the iteration at which it began
	sums    *totals.Sums
}

func newKeeper(stop config.Stop) keeper {
	k := keeper{courses: map[core.TrialNo]*attemptTotals{}}
	for _, rule := range stop.Metrics {
		if !isKept(rule.Metric) {
			continue
		}
		k.needed = true
		if rule.Reach != nil {
			k.reach = append(k.reach, rule)
		}
	}
	// The host's variables do not appear among an expression's metrics, so that any expression needs them.
	k.needed = k.needed || stop.When != nil
	return k
}

func isKept(name string) bool {
	_, counted := totals.CounterOf(name)
	return counted || name == sinceIterations || name == sinceTime
}

// result counts a result before it is applied.
func (k *keeper) result(m *core.Machine, no core.TrialNo, attempt uint32, each func(count func(string, float64))) {
	if !k.needed {
		return
	}
	c := k.courses[no]
	if c == nil {
		k.limit = sweep(k.courses, k.limit, func(no core.TrialNo) bool { return m.State(no) != core.Running })
		c = &attemptTotals{sums: totals.New()}
		k.courses[no] = c
	}
	if c.attempt != attempt {
		c.attempt, c.from = attempt, m.View(no).At
		c.sums.Begin(m, no)
	}
	each(c.sums.Add)
}

// sweep removes unneeded entries from a map that has reached its limit, and returns the next limit.
// The map stays proportional to the needed entries, and few results cost a walk over it.
func sweep[T any](entries map[core.TrialNo]T, limit int, over func(core.TrialNo) bool) int {
	if len(entries) < limit {
		return limit
	}
	for no := range entries {
		if over(no) {
			delete(entries, no)
		}
	}
	return max(2*len(entries), minSweep)
}

// minSweep is the smallest limit: a smaller map is not worth a walk.
const minSweep = 64

// fields returns the host's own fields of a result that was counted.
func (k *keeper) fields(m *core.Machine, x *inbox.Result, trained int64) map[string]float64 {
	c := k.courses[x.Trial]
	if c == nil {
		return nil
	}
	at := iterationOf(m, x)
	own := map[string]float64{sinceIterations: float64(at - min(c.from, at)),
		sinceTime: seconds(trained - m.SpentNS(x.Trial))}
	c.sums.Each(func(name string, value float64) { own[name] = value })
	return own
}

// ruleMet returns the rule over the host's own fields that is met. A metric of that name that the
// trial reports itself is compared by the core.
func (k *keeper) ruleMet(have []sdk.Metric, own map[string]float64) *core.Cause {
	for _, rule := range k.reach {
		value, kept := own[rule.Metric]
		if !kept || slices.ContainsFunc(have, func(m sdk.Metric) bool { return m.Name == rule.Metric }) {
			continue
		}
		if value >= *rule.Reach {
			return &core.Cause{Kind: core.CauseMetricReached, Metric: rule.Metric, Value: *rule.Reach}
		}
	}
	return nil
}

// valueOf returns a metric of a result, or the host's own field of that name.
func valueOf(name string, have []sdk.Metric, own map[string]float64) float64 {
	if x := metric(have, name); !math.IsNaN(x) || slices.ContainsFunc(have,
		func(m sdk.Metric) bool { return m.Name == name }) {
		return x
	}
	if x, kept := own[name]; kept {
		return x
	}
	return math.NaN()
}
