package course

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// Improvement is a result that is better than all before.
type Improvement struct {
	// At is the running time in nanoseconds.
	At        int64
	Trial     core.TrialNo
	Iteration uint64
	Value     float64
	// Trials and Results count the trials, and the results that count, so far.
	Trials  int
	Results uint64
}

// Improvements returns the results that were better than all before. They are found when somebody asks: a result that
// does not count any more may have hidden others.
func (c *Course) Improvements(id core.MetricID, mode stat.Mode) []Improvement {
	var all []Improvement
	for no := range core.TrialNo(len(c.rows)) {
		all = c.improvementsOf(all, no, id, mode)
	}
	slices.SortStableFunc(all, func(a, b Improvement) int { return cmp.Compare(a.At, b.At) })
	all = improving(all, mode)
	c.count(all)
	return all
}

// improvementsOf appends the improvements within a trial.
func (c *Course) improvementsOf(all []Improvement, no core.TrialNo, id core.MetricID, mode stat.Mode) []Improvement {
	first := len(all)
	for x := range c.Each(no) {
		v, ok := x.Value(id)
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if n := len(all); n == first || stat.Better(v, all[n-1].Value, mode) {
			all = append(all, Improvement{At: x.At, Trial: no, Iteration: x.Iteration, Value: v})
		}
	}
	return all
}

// improving keeps those that are better than all before, in place.
func improving(all []Improvement, mode stat.Mode) []Improvement {
	kept := all[:0]
	for _, x := range all {
		if n := len(kept); n == 0 || stat.Better(x.Value, kept[n-1].Value, mode) {
			kept = append(kept, x)
		}
	}
	return kept
}

// count fills in how many trials and results there were at each of them.
func (c *Course) count(list []Improvement) {
	from := func(at int64) int { return sort.Search(len(list), func(i int) bool { return list[i].At >= at }) }
	for no := range core.TrialNo(len(c.segments)) {
		if own := c.Segments(no); len(own) > 0 {
			add(list, from(own[0].From), 1, 0)
		}
		for x := range c.Each(no) {
			add(list, from(x.At), 0, 1)
		}
	}
	for i := 1; i < len(list); i++ {
		add(list, i, list[i-1].Trials, list[i-1].Results)
	}
}

func add(list []Improvement, i, trials int, results uint64) {
	if i < len(list) {
		list[i].Trials += trials
		list[i].Results += results
	}
}
