package conformance_test

import (
	"os"
	"testing"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/host/plugin/bundled"
)

// plugins are the reference plugins; this binary serves them.
var plugins = bundled.New(reference.Searcher, reference.Scheduler, reference.Trainable, reference.Executor)

func TestMain(m *testing.M) {
	if handled, exit := plugins.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
