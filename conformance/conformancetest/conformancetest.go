// Package conformancetest runs the suite on plugins in other languages, for the tests of their
// SDKs. Plugins in Go call conformance.Run themselves.
package conformancetest

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

// Main is the TestMain of a package that calls [Module]: it also makes the test binary the
// sandbox's program.
func Main(m *testing.M) {
	if handled, exit := bundled.New().Main(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// Program runs all checks on a plugin that is a program.
func Program(t *testing.T, kind sdk.Kind, path string, args ...string) {
	t.Helper()
	keeps(t, kind, process.Config{Program: process.Program{Kind: kind, Name: filepath.Base(path), Path: path,
		Args: args}})
}

// Module runs all checks on a plugin that is a WASM module.
func Module(t *testing.T, kind sdk.Kind, path string) {
	t.Helper()
	keeps(t, kind, sandboxtest.Process(t, sandbox.Config{Kind: kind, Name: filepath.Base(path), Path: path,
		Cache: sandboxtest.Cache(t)}))
}

func keeps(t *testing.T, kind sdk.Kind, c process.Config) {
	t.Helper()
	c.Log = nil // it outlives the test that owns the log
	o := conformance.Options{Short: true, Params: []byte(`{"lr": 0.001, "momentum": 0.5}`)}
	t.Run(c.Name, func(t *testing.T) {
		t.Parallel()
		conformance.RunAll(t, kind, conformance.Process(c), o)
	})
}
