package sandbox_test

import (
	"os"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

var registry = bundled.New(random.Plugin)

// TestMain makes the test binary its own runner.
func TestMain(m *testing.M) {
	if handled, exit := registry.Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	// The race detector delays the end of each process by a second.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
