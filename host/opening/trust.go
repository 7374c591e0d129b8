package opening

import (
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/find"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Foreign reports whether a plugin does not come with this program: reading an experiment must not run
// other people's code.
func Foreign(plugins *bundled.Registry, kind sdk.Kind, ref config.PluginRef) bool {
	return find.IsPath(ref.Name) || plugins.Lookup(kind, ref.Name) == nil
}

// untrustedError is the refusal to start a plugin that is not bundled.
type untrustedError struct {
	kind sdk.Kind
	ref  config.PluginRef
}

func (e *untrustedError) Error() string {
	return fmt.Sprintf("%s: the %s %q does not come with tunehost, and this command would run its code; "+
		"use --trust if you have read it and trust it", e.ref.Pos, e.kind, e.ref.Name)
}

// Unwrap makes it final: a retry does not help.
func (e *untrustedError) Unwrap() error { return &plugin.Error{Failure: plugin.Refused} }
