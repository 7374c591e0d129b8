package rust_test

import (
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestMain(m *testing.M) { conformancetest.Main(m) }

// TestConformance: all samples keep the rules, as programs and as modules, and so does
// the one of the C header; TestReadme and TestReadmeFragments hold the page's plugins
// against them.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]sdk.Kind{
		"searcher": sdk.KindSearcher, "scheduler": sdk.KindScheduler, "trainable": sdk.KindTrainable, "resumable": sdk.KindTrainable,
	} {
		conformancetest.Program(t, kind, sample(t, name))
		conformancetest.Module(t, kind, guest(t, "rust-guests", name))
	}
	conformancetest.Module(t, sdk.KindSearcher, guest(t, "c-guests", "dice"))
}
