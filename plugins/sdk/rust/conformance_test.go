package rust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
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

// TestConformance: all samples keep the rules, as programs and as modules, and so does
// the one of the C header; TestReadme and TestReadmeFragments hold the page's plugins
// against them.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]sdk.Kind{
		"searcher": sdk.KindSearcher, "scheduler": sdk.KindScheduler, "trainable": sdk.KindTrainable, "resumable": sdk.KindTrainable,
	} {
		conforms(t, kind, sample(t, name))
		conformsModule(t, kind, guest(t, "rust-guests", name))
	}
	conformsModule(t, sdk.KindSearcher, guest(t, "c-guests", "dice"))
}

func conforms(t *testing.T, kind sdk.Kind, path string, args ...string) {
	keeps(t, kind, process.Config{Kind: kind, Name: filepath.Base(path), Path: path, Args: args})
}

func conformsModule(t *testing.T, kind sdk.Kind, path string) {
	c := sandboxtest.Process(t, sandbox.Config{Kind: kind, Name: filepath.Base(path), Path: path, Cache: sandboxtest.Cache(t)})
	c.Log = nil // it outlives the test that it would log to
	keeps(t, kind, c)
}

func keeps(t *testing.T, kind sdk.Kind, c process.Config) {
	o := conformance.Options{Short: true, Params: []byte(`{"lr": 0.001, "momentum": 0.5}`)}
	t.Run(c.Name, func(t *testing.T) { conformance.RunAll(t, kind, conformance.Process(c), o) })
}
