package host

import (
	"context"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/finder"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// limits are the limits of plugins outside of experiments.
var limits = config.Sandbox{Memory: 256 << 20, CallTimeout: deadlines.Bundled}

// StartPlugin starts a plugin outside of an experiment, to look at it. Without a
// kind it is asked what it is. What it would have to be granted it does not have.
func StartPlugin(ctx context.Context, plugins *bundled.Registry, f *finder.Found, kind sdk.Kind) (plugin.Plugin, error) {
	if f.Bundled != nil {
		c, _ := plugins.Config(f.Bundled.Kind, f.Name)
		return process.Start(ctx, c)
	}
	sums, err := f.Folder.Check()
	if err != nil {
		return nil, err
	}
	c := f.Folder.Config(sums, "")
	if c.Kind == "" {
		c.Kind = kind
	}
	return loading.Launch(ctx, plugins, f.Folder, c, loading.Box{Limits: limits})
}
