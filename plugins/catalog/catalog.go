// Package catalog lists the bundled searchers and schedulers in display order. The command uses it,
// and so does the WASM module that tests compare with it.
package catalog

import (
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	adaptive "github.com/tunehost/tunehost/plugins/schedulers/auto"
	brackets "github.com/tunehost/tunehost/plugins/schedulers/bohb"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/mfpbt"
	"github.com/tunehost/tunehost/plugins/schedulers/moasha"
	"github.com/tunehost/tunehost/plugins/schedulers/pasha"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/schedulers/pb2"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/schedulers/pbtreplay"
	"github.com/tunehost/tunehost/plugins/schedulers/resources"
	"github.com/tunehost/tunehost/plugins/schedulers/wilcoxon"
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

// Searchers are the bundled searchers.
var Searchers = []sdk.SearcherPlugin{
	auto.Plugin, random.Plugin, grid.Plugin, sobol.Plugin, tpe.Plugin, gp.Plugin, cmaes.Plugin, bohb.Plugin,
	evolution.Plugin, nsga2.Plugin,
}

// Schedulers are the bundled schedulers.
var Schedulers = []sdk.SchedulerPlugin{
	adaptive.Plugin, fifo.Plugin, asha.Plugin, moasha.Plugin, pasha.Plugin, hyperband.Plugin, brackets.Plugin,
	median.Plugin, patience.Plugin, wilcoxon.Plugin, pbt.Plugin, pb2.Plugin, mfpbt.Plugin, pbtreplay.Plugin,
	resources.Plugin,
}
