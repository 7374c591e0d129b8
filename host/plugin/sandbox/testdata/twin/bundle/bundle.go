// Package bundle has the searchers and schedulers that come with tunehost, for the
// module and for the test that compares it with them.
package bundle

import (
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/searchers/auto"
	"github.com/tunehost/tunehost/plugins/searchers/bohb"
	"github.com/tunehost/tunehost/plugins/searchers/cmaes"
	"github.com/tunehost/tunehost/plugins/searchers/evolution"
	"github.com/tunehost/tunehost/plugins/searchers/gp"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/nsga2"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
)

// Searchers are by name.
var Searchers = map[string]sdk.SearcherPlugin{
	"auto": auto.Plugin, "bohb": bohb.Plugin, "cmaes": cmaes.Plugin, "evolution": evolution.Plugin, "gp": gp.Plugin,
	"grid": grid.Plugin, "nsga2": nsga2.Plugin, "random": random.Plugin, "sobol": sobol.Plugin, "tpe": tpe.Plugin,
}

// Schedulers are by name.
var Schedulers = map[string]sdk.SchedulerPlugin{
	"asha": asha.Plugin, "fifo": fifo.Plugin, "hyperband": hyperband.Plugin, "median": median.Plugin, "patience": patience.Plugin, "pbt": pbt.Plugin,
}
