package conformance_test

import (
	"os"
	"testing"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/schedulers/asha"
	"github.com/tunehost/tunehost/plugins/schedulers/fifo"
	"github.com/tunehost/tunehost/plugins/schedulers/hyperband"
	"github.com/tunehost/tunehost/plugins/schedulers/median"
	"github.com/tunehost/tunehost/plugins/schedulers/patience"
	"github.com/tunehost/tunehost/plugins/schedulers/pbt"
	"github.com/tunehost/tunehost/plugins/searchers/grid"
	"github.com/tunehost/tunehost/plugins/searchers/random"
	"github.com/tunehost/tunehost/plugins/searchers/sobol"
	"github.com/tunehost/tunehost/plugins/searchers/tpe"
	"github.com/tunehost/tunehost/plugins/trainables/chaos"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/digits"
)

// plugins are all that come with tunehost, and the reference ones; this binary
// serves them.
var plugins = bundled.New(
	reference.Searcher, reference.Scheduler, reference.Trainable,
	random.Plugin, grid.Plugin, sobol.Plugin, tpe.Plugin,
	fifo.Plugin, asha.Plugin, hyperband.Plugin, median.Plugin, patience.Plugin, pbt.Plugin,
	command.Plugin(), digits.Plugin, chaos.Plugin,
)

func TestMain(m *testing.M) {
	if handled, exit := plugins.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
