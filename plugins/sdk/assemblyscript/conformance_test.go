package assemblyscript_test

import (
	"testing"

	"github.com/tunehost/tunehost/conformance/conformancetest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestMain(m *testing.M) { conformancetest.Main(m) }

// TestConformance runs the suite on all samples; TestReadme runs it on the plugin of the README.
func TestConformance(t *testing.T) {
	for name, kind := range map[string]sdk.Kind{
		"climber": sdk.KindSearcher, "halfway": sdk.KindScheduler, "descent": sdk.KindTrainable,
		"descent-resumable": sdk.KindTrainable,
	} {
		conformancetest.Module(t, kind, file(t, name))
	}
}
