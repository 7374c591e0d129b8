package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// guests are modules in other languages, which `make check` has built in .tools.
var guests = []struct {
	file   string
	kind   sdk.Kind
	params string
}{
	{"assemblyscript/climber.wasm", sdk.KindSearcher, ""},
	{"assemblyscript/halfway.wasm", sdk.KindScheduler, ""},
	{"assemblyscript/descent-resumable.wasm", sdk.KindTrainable, `{"lr": 0.001, "momentum": 0.5}`},
	{"rust-guests/searcher.wasm", sdk.KindSearcher, ""},
	{"rust-guests/scheduler.wasm", sdk.KindScheduler, ""},
	{"rust-guests/resumable.wasm", sdk.KindTrainable, `{"lr": 0.001, "momentum": 0.5}`},
}

// TestConformanceGuests: modules in other languages keep the rules in the sandbox,
// each with its share of the checks.
func TestConformanceGuests(t *testing.T) {
	const share = 6
	for n, g := range guests {
		path, err := filepath.Abs(filepath.Join("../../.tools", g.file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			if os.Getenv("CI") == "true" {
				t.Errorf("%v: make assemblyscript rust-guests builds it", err)
			}
			continue
		}
		config := sandboxtest.Process(t, sandbox.Config{Kind: g.kind, Name: "guest", Path: path, Cache: sandboxtest.Cache(t)})
		config.Log = nil // it outlives the test that it would log to
		o := conformance.Options{Short: true, Params: []byte(g.params)}
		parallel(t, g.kind, g.file, func(t *testing.T) {
			for k, c := range conformance.Checks(g.kind) {
				if o.Only = c.Name; *long || (k+n)%share == 0 {
					doors[g.kind](t, conformance.Process(config), o)
				}
			}
		})
	}
}
