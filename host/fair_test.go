package host

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
)

// B-003: with many trials reporting without pause, each is served: until one is
// done, no other may have been left behind by more than a part of its results.
func TestNoTrialStarves(t *testing.T) {
	const trials, results = 6, 400
	o, _ := quick(t, `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 400, shared: true}}
searcher: random
scheduler: {plugin: median, grace: 1000}
trials: 6
`, median.Plugin)
	o.Resources = "cpu=6"
	ended := finish(t, o)
	var got [trials]int
	first := core.TrialNo(trials)
	audit(t, ended.Dir, func(_ *core.Machine, e core.Event) {
		r, ok := e.(*core.ResultReported)
		if !ok || first != trials {
			return
		}
		if got[r.Trial]++; got[r.Trial] == results {
			first = r.Trial
		}
	})
	for no, n := range got {
		if n < results/4 {
			t.Errorf("when trial %d had its %d results, trial %d had %d", first, results, no, n)
		}
	}
}
