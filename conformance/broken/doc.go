// Package broken has plugins that are wrong, each in one way: what the conformance
// suite must find. Each is a reference plugin with a small change; expect.yaml says
// for each exactly which checks it fails, and a test holds the two together.
package broken

import (
	"context"

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
	return append(append(searchers(), schedulers()...), trainables()...)
}

// value opens a plugin that is a Go value.
func value(v any) func(context.Context) (plugin.Plugin, error) {
	return func(context.Context) (plugin.Plugin, error) { return inproc.New(v) }
}
