package stoprules

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/totals"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// The host's own fields since the attempt began (B-016).
const (
	sinceIterations = "iterations_since_restore"
	sinceTime       = "time_since_restore"
)

// keeper knows the host's own fields of results that rules name: what an attempt has
// done, and totals of what a trial counts.
type keeper struct {
	needed  bool
	reach   []config.MetricRule // rules over such fields
	courses map[core.TrialNo]*course
	limit   int // of courses: at as many, those of attempts that are over go
}

// course is what a trial's present attempt has done.
type course struct {
	attempt uint32
	from    uint64 // the iteration that it began from
	sums    *totals.Sums
}

func newKeeper(stop config.Stop) keeper {
	k := keeper{courses: map[core.TrialNo]*course{}}
	for _, rule := range stop.Metrics {
		if !isKept(rule.Metric) {
			continue
		}
		k.needed = true
		if rule.Reach != nil {
			k.reach = append(k.reach, rule)
		}
	}
	// The variables among the names are no metrics to an expression, and are needed always.
	k.needed = k.needed || stop.When != nil
	return k
}

func isKept(name string) bool {
	_, counted := totals.CounterOf(name)
	return counted || name == sinceIterations || name == sinceTime
}

// result takes in a result that counts, before it is applied.
func (k *keeper) result(m *core.Machine, no core.TrialNo, attempt uint32, each func(count func(string, float64))) {
	if !k.needed {
		return
	}
	c := k.courses[no]
	if c == nil {
		k.limit = sweep(k.courses, k.limit, func(no core.TrialNo) bool { return m.State(no) != core.Running })
		c = &course{sums: totals.New()}
		k.courses[no] = c
	}
	if c.attempt != attempt {
		c.attempt, c.from = attempt, m.View(no).At
		c.sums.Begin(m, no)
	}
	each(c.sums.Add)
}

// sweep takes what nobody needs any more out of a map that has as many entries as its
// limit, and returns the next limit: so that the map stays as large as what is needed,
// and no result costs a walk over all of it.
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

// minSweep is how many entries are not worth a walk.
const minSweep = 64

// fields are the host's own of a result that was taken in.
func (k *keeper) fields(m *core.Machine, x *inbox.Result) map[string]float64 {
	c := k.courses[x.Trial]
	if c == nil {
		return nil
	}
	at := iterationOf(m, x)
	own := map[string]float64{sinceIterations: float64(at - min(c.from, at)), sinceTime: seconds(m.TrainNS(x.Trial) - m.SpentNS(x.Trial))}
	c.sums.Each(func(name string, value float64) { own[name] = value })
	return own
}

// reached says which rule over the host's own fields is met. A metric of that name, which
// the trial reports itself, is the core's to compare.
func (k *keeper) reached(have []sdk.Metric, own map[string]float64) *core.Cause {
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

// valueOf is a metric of a result, or the host's own field of that name.
func valueOf(name string, have []sdk.Metric, own map[string]float64) float64 {
	if x := metric(have, name); !math.IsNaN(x) || slices.ContainsFunc(have, func(m sdk.Metric) bool { return m.Name == name }) {
		return x
	}
	if x, kept := own[name]; kept {
		return x
	}
	return math.NaN()
}
