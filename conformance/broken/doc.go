// Package broken has plugins with one defect each, which the conformance suite must find. Each is a
// reference plugin with a small change. expect.yaml lists exactly the checks that each fails, and a
// test verifies this.
package broken

import (
	"context"
	"slices"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is a plugin that is wrong.
type Plugin struct {
	// Name is its own in expect.yaml.
	Name string
	Kind sdk.Kind
	// Open starts it, in this process.
	Open func(context.Context) (plugin.Plugin, error)
}

// All are the broken plugins.
func All() []Plugin {
	return slices.Concat(searchers(), schedulers(), trainables(), executors())
}

// value opens a plugin that is a Go value.
func value(v any) func(context.Context) (plugin.Plugin, error) {
	return func(context.Context) (plugin.Plugin, error) { return inproc.New(v) }
}
