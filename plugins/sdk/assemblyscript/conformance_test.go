package assemblyscript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// TestMain makes the test binary the sandbox's program, too.
func TestMain(m *testing.M) {
	if handled, exit := bundled.New().Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// TestConformance: all samples keep the rules; TestReadme holds the page's plugin
// against them.
func TestConformance(t *testing.T) {
	conforms(t, sdk.KindSearcher, file(t, "climber"))
	conforms(t, sdk.KindScheduler, file(t, "halfway"))
	conforms(t, sdk.KindTrainable, file(t, "descent"))
	conforms(t, sdk.KindTrainable, file(t, "descent-resumable"))
}

func conforms(t *testing.T, kind sdk.Kind, path string) {
	c := sandboxtest.Process(t, sandbox.Config{Kind: kind, Name: "guest", Path: path, Cache: sandboxtest.Cache(t)})
	c.Log = nil // it outlives the test that it would log to
	o := conformance.Options{Short: true, Params: []byte(`{"lr": 0.001, "momentum": 0.5}`)}
	t.Run(filepath.Base(path), func(t *testing.T) { conformance.RunAll(t, kind, conformance.Process(c), o) })
}
