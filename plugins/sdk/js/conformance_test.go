package js_test

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/plugins/sdk"
)

const lrMomentum = `{"lr": 0.001, "momentum": 0.5}`

// shown are the headings of the README that contain plugins, and their kinds.
var shown = map[string]sdk.Kind{
	"Write a searcher in JavaScript": sdk.KindSearcher, "Schedulers": sdk.KindScheduler,
	"Trainables": sdk.KindTrainable,
}

// TestConformance runs the suite on all samples and all plugins of the README.
func TestConformance(t *testing.T) {
	conforms(t, sdk.KindSearcher, "samples/climber.js", "")
	conforms(t, sdk.KindScheduler, "samples/halfway.js", "")
	conforms(t, sdk.KindTrainable, "samples/descent.js", lrMomentum)
	conforms(t, sdk.KindTrainable, "samples/descent-resumable.js", lrMomentum)
	plugins := 0
	for _, b := range blocks(t) {
		if kind, ok := shown[b.heading]; ok && b.language == "js" {
			conforms(t, kind, script(t, b.text), `{"lr": 0.1}`)
			plugins++
		}
	}
	if plugins != len(shown) {
		t.Errorf("the page has %d plugins", plugins)
	}
}

func conforms(t *testing.T, kind sdk.Kind, file, params string) {
	c := program(t, kind, file)
	c.Log = nil // it outlives the test that owns the log
	t.Run(filepath.Base(file), func(t *testing.T) {
		t.Parallel()
		conformance.RunAll(t, kind, conformance.Process(c), conformance.Options{Short: true, Params: []byte(params)})
	})
}
