package opening

import (
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
)

// UsesOwn reports whether an experiment uses a plugin that is not bundled: its user may have
// to repair it.
func UsesOwn(plugins *bundled.Registry, e *config.Experiment) bool {
	return slices.ContainsFunc(loading.Uses(e), func(u loading.Use) bool { return Foreign(plugins, u.Kind, u.Ref) })
}
