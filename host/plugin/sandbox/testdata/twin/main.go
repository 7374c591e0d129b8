// Command twin is bundled searchers and schedulers as a module: which, say the
// variables SEARCHER and SCHEDULER.
package main

import (
	"os"

	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
)

func main() {
	searchers := map[string]sdk.SearcherPlugin{"random": random.Plugin, "tpe": tpe.Plugin, "sobol": sobol.Plugin, "grid": grid.Plugin}
	schedulers := map[string]sdk.SchedulerPlugin{"asha": asha.Plugin, "hyperband": hyperband.Plugin, "median": median.Plugin, "pbt": pbt.Plugin}
	var set serve.Set
	if p, ok := searchers[os.Getenv("SEARCHER")]; ok {
		set.Searcher = &p
	}
	if p, ok := schedulers[os.Getenv("SCHEDULER")]; ok {
		set.Scheduler = &p
	}
	serve.Run(set)
}
