package main

import (
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	brackets "github.com/tunehost/tunehost/plugins/schedulers/bohb"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/moasha"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/schedulers/resources"
	"github.com/tunehost/tunehost/plugins/schedulers/wilcoxon"
	"github.com/tunehost/tunehost/plugins/searchers/bohb"
	"github.com/tunehost/tunehost/plugins/searchers/evolution"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/nsga2"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// plugins are those in the binary, in the order in which they are listed.
var plugins = bundled.New(
	random.Plugin, grid.Plugin, sobol.Plugin, tpe.Plugin, bohb.Plugin, evolution.Plugin, nsga2.Plugin,
	fifo.Plugin, asha.Plugin, hyperband.Plugin, median.Plugin, patience.Plugin, pbt.Plugin, resources.Plugin, brackets.Plugin, moasha.Plugin, wilcoxon.Plugin,
	command.Plugin(), digits.Plugin, chaos.Plugin,
)
