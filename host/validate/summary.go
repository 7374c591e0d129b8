package validate

import (
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/spec"
)

// Summary says how many trials an experiment has, and who decides about them: "100 trials, searcher auto
// (the default), scheduler asha".
func Summary(e *config.Experiment) string {
	trials := "trials without a limit"
	switch n := spec.Runs(e); {
	case n == 1:
		trials = "1 trial"
	case n > 1:
		trials = fmt.Sprintf("%d trials", n)
	}
	by := func(key string, ref config.PluginRef) string {
		if !e.Has(key) {
			return key + " " + ref.Name + " (the default)"
		}
		return key + " " + ref.Name
	}
	return trials + ", " + by("searcher", e.Searcher) + ", " + by("scheduler", e.Scheduler)
}
