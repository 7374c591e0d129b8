package catalog

import (
	"context"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// The descriptions and options of the plugins are valid, and unknown options are refused. `tunehost
// conformance` checks everything else.
func TestOptions(t *testing.T) {
	for _, p := range Searchers {
		t.Run("searcher "+p.Name, func(t *testing.T) { conforms(t, sdk.KindSearcher, p) })
	}
	for _, p := range Schedulers {
		t.Run("scheduler "+p.Name, func(t *testing.T) { conforms(t, sdk.KindScheduler, p) })
	}
}

func conforms(t *testing.T, kind sdk.Kind, p any) {
	open := func(context.Context) (plugin.Plugin, error) { return inproc.New(p) }
	for _, checks := range []string{"/describe", "/options"} {
		err := conformance.Run(t.Context(), kind, open, conformance.Options{Only: string(kind) + checks},
			func(r conformance.Result) {
				if r.Outcome == conformance.Failed {
					t.Errorf("%s: want %s; saw %s", r.Check, r.Want, r.Saw)
				}
			})
		if err != nil {
			t.Error(err)
		}
	}
}
