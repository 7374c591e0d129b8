// Package loading finds the plugins that an experiment uses, checks them against the file's grants and
// against those that the experiment began with, and starts them. It does not talk to running plugins;
// that is the host's task.
package loading

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/find"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is a plugin that an experiment uses, found and checked. It stays the same for the life of
// this host, however often it is started.
type Plugin struct {
	*find.Found
	kind  sdk.Kind // the kind that it is used as
	ref   config.PluginRef
	sums  folder.Sums
	grant config.Grant

	mu   sync.Mutex
	info sdk.Info // what it said at its last start
}

// Loader finds the plugins of one experiment.
type Loader struct {
	experiment *config.Experiment
	dir        string // of the experiment file
	finder     *find.Finder

	mu    sync.Mutex
	known []*Plugin
}

// New finds plugins beside the experiment file, which is in dir, and in the folders that the file
// names.
func New(plugins *bundled.Registry, e *config.Experiment, dir string) (*Loader, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := find.New(plugins, dir, e.Plugins, e.PosOf("plugins"))
	return &Loader{experiment: e, dir: dir, finder: f}, err
}

// Load finds a plugin and checks all that can be checked without running it: the checksums of its
// files, its grants, and the options of a bundled plugin.
func (l *Loader) Load(kind sdk.Kind, ref config.PluginRef) (*Plugin, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.known {
		if p.kind == kind && p.ref.Name == ref.Name && bytes.Equal(p.ref.Options, ref.Options) {
			return p, nil
		}
	}
	p, err := l.find(kind, ref)
	if err == nil {
		l.known = append(l.known, p)
	}
	return p, err
}

func (l *Loader) find(kind sdk.Kind, ref config.PluginRef) (*Plugin, error) {
	find := l.finder.Find
	if kind == sdk.KindTrainable && l.experiment.Trainable.Plugin == nil {
		find = l.finder.Bundled // a command: the user did not name the plugin that runs it
	}
	found, err := find(kind, ref.Name)
	_, placed := errors.AsType[*config.Error](err) // it is found, and has a mistake
	if err != nil && kind == sdk.KindReporter && !placed && !ref.IsPath() {
		err = fmt.Errorf("%w; reporters that write files are %s", err, strings.Join(config.Formats(), ", "))
	}
	if err != nil && kind == sdk.KindExecutor {
		err = fmt.Errorf("%w; the executor %s is this machine", err, config.LocalExecutor)
	}
	if err != nil {
		return nil, config.At(ref.Pos, err)
	}
	found.Folder = l.placed(found.Folder)
	p := &Plugin{Found: found, kind: kind, ref: ref, grant: l.granted(ref.Name, found.Name)}
	if found.Bundled != nil {
		p.info = *found.Bundled
		return p, p.checkOptions(p.info)
	}
	if p.sums, err = found.Folder.Pin(); err != nil {
		return nil, config.At(ref.Pos, err)
	}
	return p, config.At(ref.Pos, ungranted(kind, ref.Name, found.Folder, p.grant, len(l.experiment.Grants) > 0))
}

// placed returns a plugin with the arguments that name where the experiment's directory is now.
func (l *Loader) placed(p *folder.Plugin) *folder.Plugin {
	if p == nil || l.experiment.Place == (config.Place{}) {
		return p
	}
	c := *p
	c.Args = slices.Clone(p.Args)
	for i, arg := range c.Args {
		c.Args[i] = l.experiment.Place.Here(arg)
	}
	return &c
}

// granted returns the file's grants for a plugin, by the name or path in the file, or by the plugin's
// own name.
func (l *Loader) granted(names ...string) config.Grant {
	for _, name := range names {
		if g, ok := l.experiment.Grants[name]; ok {
			return within(l.dir, g)
		}
	}
	return config.Grant{}
}

// optionsError is the host's refusal of options, as final as the plugin's own.
type optionsError struct{ error }

// Unwrap lets a supervisor see that a retry will not help.
func (e *optionsError) Unwrap() []error {
	return []error{e.error, &plugin.Error{Failure: plugin.Refused}}
}

func (p *Plugin) checkOptions(info sdk.Info) error {
	if len(info.Options) == 0 && p.Bundled == nil {
		return nil // the plugin checks them itself
	}
	if errs := config.CheckOptions(p.ref, info.Options); len(errs) > 0 {
		return &optionsError{errors.Join(errs...)}
	}
	return nil
}

// Differences says where the plugin that runs differs from its plugin.yaml; "" if nowhere.
func (p *Plugin) Differences() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Differences(p.Folder, p.info)
}

// WrongDefaults says which options that the file does not set have a default that the plugin's own schema forbids.
func (p *Plugin) WrongDefaults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return config.WrongDefaults(p.ref, p.info.Options)
}

// Release distinguishes releases of the plugin.
func (p *Plugin) Release() string {
	if p.Bundled != nil {
		return p.Bundled.Version
	}
	return p.sums.Of()
}

// described keeps what the plugin says about itself, once its options match that.
func (p *Plugin) described(ctx context.Context, running plugin.Plugin) error {
	info, err := running.Describe(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.info = info
	p.mu.Unlock()
	return p.checkOptions(info)
}

// Check loads plugins and returns all mistakes.
func (l *Loader) Check(uses []Use) (errs []error) {
	for _, u := range uses {
		if _, err := l.Load(u.Kind, u.Ref); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return l.strayGrants()
}

// Use is a plugin that the file names.
type Use struct {
	Kind sdk.Kind
	Ref  config.PluginRef
}

// strayGrants reports grants to plugins that the experiment does not use.
func (l *Loader) strayGrants() (errs []error) {
	var names []string
	for _, p := range l.known {
		names = append(names, p.ref.Name, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.experiment.Grants)) {
		if !slices.Contains(names, name) {
			errs = append(errs, &config.Error{Pos: l.experiment.PosOf("grants"),
				Msg: fmt.Sprintf("grants: this experiment uses no plugin %q%s", name, nearest.Hint(name, names))})
		}
	}
	return errs
}
