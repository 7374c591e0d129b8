package rust_test

import (
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestMain(m *testing.M) { conformancetest.Main(m) }

// TestConformance runs the suite on all samples, as programs and as modules, and on the sample of
// the C header. TestReadme and TestReadmeFragments run it on the plugins of the README.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]sdk.Kind{
		"searcher": sdk.KindSearcher, "scheduler": sdk.KindScheduler, "trainable": sdk.KindTrainable,
		"resumable": sdk.KindTrainable,
	} {
		conformancetest.Program(t, kind, sample(t, name))
		conformancetest.Module(t, kind, guest(t, "rust-guests", name))
	}
	conformancetest.Module(t, sdk.KindSearcher, guest(t, "c-guests", "dice"))
}
