package host

import (
	"slices"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
)

// B-003: with many trials reporting without pause, each is served: from when all of
// them report until one is done, none is left behind by more than a part of its
// results. A machine that is busy may begin the last one late, so that there is little
// to see, or keep one of them from running; then it is tried again.
func TestNoTrialStarves(t *testing.T) {
	const tries, enough = 20, 200
	unfair := 0
	for range tries {
		got := together(t)
		if most := slices.Max(got); most < enough {
			continue
		} else if slices.Min(got) >= most/4 {
			return
		}
		t.Logf("while all reported, the trials had %v results", got)
		if unfair++; unfair == 6 {
			t.Fatal("each time one was left behind")
		}
	}
	t.Fatalf("in %d tries the trials never ran together fairly for %d results", tries, enough)
}

// together counts each trial's results while all of them report.
func together(t *testing.T) []int {
	const trials, results = 6, 800
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 800, shared: true}}
searcher: random
scheduler: {plugin: median, grace: 10000}
trials: 6
`, median.Plugin)
	o.Resources = "cpu=6"
	ended := finish(t, o)
	begun, got := map[core.TrialNo]uint64{}, make([]int, trials)
	done := false
	audit(t, ended.Dir, func(_ *core.Machine, e core.Event) {
		r, ok := e.(*core.ResultReported)
		if !ok || done {
			return
		}
		if begun[r.Trial]++; len(begun) == trials {
			got[r.Trial]++
		}
		done = begun[r.Trial] == results
	})
	return got
}
