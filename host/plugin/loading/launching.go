package loading

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// SandboxPolicy is what a plugin in the sandbox may use.
type SandboxPolicy struct {
	Limits config.Sandbox
	Grant  config.Grant
}

// Starter starts the process of a plugin on some machine.
type Starter func(ctx context.Context, what process.Program) (plugin.Plugin, error)

// Launch starts a plugin that was found, in the way that its transport needs. For a module, SHA256 is its
// required checksum.
func Launch(ctx context.Context, plugins *bundled.Registry, p *folder.Plugin, what process.Program, b SandboxPolicy,
	start Starter) (plugin.Plugin, error) {
	if p.Transport == folder.Process {
		return start(ctx, what)
	}
	if what.Kind != "" {
		return launchModule(ctx, plugins, p, what, b, start)
	}
	for _, what.Kind = range sdk.ModuleKinds() {
		running, err := launchModule(ctx, plugins, p, what, b, start)
		if err == nil || !process.IsOtherKind(err) {
			return running, err
		}
	}
	return nil, fmt.Errorf("%s is not a searcher, scheduler or trainable", p.Module)
}

// launchModule starts a sandbox for a module.
func launchModule(ctx context.Context, plugins *bundled.Registry, p *folder.Plugin, c process.Program,
	b SandboxPolicy, start Starter) (plugin.Plugin, error) {
	runner, err := plugins.Sandbox(sandbox.Config{
		Kind: c.Kind, Name: c.Name, Path: p.Module, SHA256: c.SHA256, Memory: b.Limits.Memory,
		Cache:  sandbox.DefaultCache(),
		Grants: sandbox.Grants{Read: b.Grant.Read, Write: b.Grant.Write, Env: b.Grant.Env, Clock: b.Grant.Clock},
	})
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", c.Kind, c.Name, err)
	}
	runner.Env, runner.StartTimeout = c.Env, cmp.Or(c.StartTimeout, runner.StartTimeout)
	return start(ctx, runner.Program)
}

// Start starts a plugin from a folder, with the grants of the file, within a time (0: the plugin's own). The
// running plugin describes its options, so that they are checked only now.
func (p *Plugin) Start(ctx context.Context, plugins *bundled.Registry, baseDir string, within time.Duration,
	limits config.Sandbox, start Starter) (plugin.Plugin, error) {
	if err := p.Folder.Unchanged(p.sums); err != nil {
		return nil, &plugin.Error{Plugin: fmt.Sprintf("%s %q", p.kind, p.ref.Name), Failure: plugin.NotStarted,
			What: "is not started: " + err.Error(), Err: err}
	}
	c := p.Folder.Config(p.sums, baseDir)
	c.Kind, c.Name, c.StartTimeout = p.kind, p.ref.Name, within
	running, err := Launch(ctx, plugins, p.Folder, c, SandboxPolicy{limits, p.grant}, start)
	if err != nil {
		return nil, asManifest(p.Folder, err)
	}
	if err := p.described(ctx, running); err != nil {
		_ = running.Close()
		return nil, err
	}
	return running, nil
}
