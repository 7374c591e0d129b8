package assemblyscript_test

import (
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestMain(m *testing.M) { conformancetest.Main(m) }

// TestConformance: all samples keep the rules; TestReadme holds the page's plugin
// against them.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]sdk.Kind{
		"climber": sdk.KindSearcher, "halfway": sdk.KindScheduler, "descent": sdk.KindTrainable, "descent-resumable": sdk.KindTrainable,
	} {
		conformancetest.Module(t, kind, file(t, name))
	}
}
