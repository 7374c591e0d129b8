package loading

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Box is what a plugin in the sandbox may have.
type Box struct {
	Limits config.Sandbox
	Grant  config.Grant
}

// Launch is where a plugin that was found becomes one that runs, and the only
// place that knows the ways in which it may. The config has the checksum that a
// module must have as SHA256.
func Launch(ctx context.Context, plugins *bundled.Registry, p *folder.Plugin, c process.Config, b Box) (plugin.Plugin, error) {
	if p.Transport == folder.Process {
		return process.Start(ctx, c)
	}
	if c.Kind != "" {
		return launchModule(ctx, plugins, p, c, b)
	}
	for _, c.Kind = range sdk.ModuleKinds() {
		running, err := launchModule(ctx, plugins, p, c, b)
		if err == nil || !process.IsOtherKind(err) {
			return running, err
		}
	}
	return nil, fmt.Errorf("%s is not a searcher, scheduler or trainable", p.Module)
}

// launchModule starts a sandbox for a module.
func launchModule(ctx context.Context, plugins *bundled.Registry, p *folder.Plugin, c process.Config, b Box) (plugin.Plugin, error) {
	runner, err := plugins.Sandbox(sandbox.Config{
		Kind: c.Kind, Name: c.Name, Path: p.Module, SHA256: c.SHA256, Memory: b.Limits.Memory, Cache: sandbox.DefaultCache(),
		Grants: sandbox.Grants{Read: b.Grant.Read, Write: b.Grant.Write, Env: b.Grant.Env, Clock: b.Grant.Clock},
	})
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Kind, c.Name, err)
	}
	runner.Env, runner.Log, runner.LogPath = c.Env, c.Log, c.LogPath
	runner.StartTimeout = cmp.Or(c.StartTimeout, runner.StartTimeout)
	return process.Start(ctx, runner)
}

// Start starts a plugin that was found in a folder: what it is configured as, with
// what the file grants it. Which options it has it says itself, so that they are
// checked only now.
func (p *Plugin) Start(ctx context.Context, plugins *bundled.Registry, baseDir string, configured func(process.Config) process.Config, limits config.Sandbox) (plugin.Plugin, error) {
	if err := p.Folder.Unchanged(p.sums); err != nil {
		return nil, &plugin.Error{Plugin: fmt.Sprintf("%s %q", p.kind, p.ref.Name), Failure: plugin.NotStarted, What: "is not started: " + err.Error(), Err: err}
	}
	c := p.Folder.Config(p.sums, baseDir)
	c.Kind, c.Name = p.kind, p.ref.Name
	running, err := Launch(ctx, plugins, p.Folder, configured(c), Box{limits, p.grant})
	if err != nil {
		return nil, err
	}
	if err := p.described(ctx, running); err != nil {
		_ = running.Close()
		return nil, err
	}
	return running, nil
}
