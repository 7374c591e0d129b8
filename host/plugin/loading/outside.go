package loading

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/find"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// outsideLimits are the limits of plugins outside of experiments.
var outsideLimits = config.Sandbox{Memory: 256 << 20, CallTimeout: deadlines.Bundled}

// StartLimit returns how long a plugin may take to start outside of an experiment: as long as in one whose file sets no
// other limit.
func StartLimit(f *find.Found) time.Duration {
	switch {
	case f.Bundled != nil:
		return deadlines.Bundled
	case f.Folder.Transport != folder.Process:
		return sandbox.StartTimeout
	}
	return deadlines.Limits{}.Of(deadlines.Start)
}

// SlowStart returns when the user is told of a plugin that takes long to start outside of an experiment, and what.
func SlowStart(f *find.Found) (after time.Duration, text string) {
	limit := StartLimit(f)
	after = deadlines.Notice(limit)
	return after, fmt.Sprintf("plugin %q has not answered Describe since its start for %s; it is given up after %s",
		f.Name, deadlines.Text(after), deadlines.Text(limit))
}

// StartOutside starts a plugin outside of an experiment, to examine it, without any grants. If the kind
// is "", the plugin says itself what it is.
func StartOutside(ctx context.Context, plugins *bundled.Registry, f *find.Found, kind sdk.Kind, start Starter) (
	plugin.Plugin, error) {
	if f.Bundled != nil {
		c, _ := plugins.Config(f.Bundled.Kind, f.Name)
		c.StartTimeout = StartLimit(f)
		return start(ctx, c.Program)
	}
	sums, err := f.Folder.Check()
	if err != nil {
		return nil, err
	}
	c := f.Folder.Config(sums, "")
	c.StartTimeout = StartLimit(f)
	if c.Kind == "" {
		c.Kind = kind
	}
	running, err := Launch(ctx, plugins, f.Folder, c, SandboxPolicy{Limits: outsideLimits}, start)
	return running, asManifest(f.Folder, err)
}
