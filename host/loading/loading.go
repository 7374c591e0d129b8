// Package loading is the plugins that an experiment uses: found, held against what
// the file grants them and against those that it began with, and started. What they
// are told when they run is the host's affair.
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
	"github.com/tunehost/tunehost/host/plugin/finder"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is one plugin that an experiment uses, found and checked; it is the same
// one as long as this host lives, however often it is started.
type Plugin struct {
	*finder.Found
	kind  sdk.Kind // as which it is used
	ref   config.PluginRef
	sums  folder.Sums
	grant config.Grant

	mu   sync.Mutex
	info sdk.Info // what it said when it was started last
}

// Loader finds the plugins of one experiment.
type Loader struct {
	experiment *config.Experiment
	dir        string // of the experiment file
	finder     *finder.Finder

	mu    sync.Mutex
	known []*Plugin
}

// New finds them beside the experiment file, which is in dir, and where the file says.
func New(plugins *bundled.Registry, e *config.Experiment, dir string) (*Loader, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := finder.New(plugins, dir, e.Plugins, e.PosOf("plugins"))
	return &Loader{experiment: e, dir: dir, finder: f}, err
}

// Load finds a plugin, and checks all that can be checked without running it:
// its files' checksums, what it wants to be granted, and of a bundled one the
// options.
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
		find = l.finder.Bundled // a command: nobody named the plugin that runs it
	}
	found, err := find(kind, ref.Name)
	if err != nil && kind == sdk.KindReporter {
		err = fmt.Errorf("%w; reporters that write files are %s", err, strings.Join(files.Formats(), ", "))
	}
	if err != nil {
		return nil, config.At(ref.Pos, err)
	}
	p := &Plugin{Found: found, kind: kind, ref: ref, grant: l.granted(ref.Name, found.Name)}
	if found.Bundled != nil {
		p.info = *found.Bundled
		return p, p.checkOptions(p.info)
	}
	if p.sums, err = found.Folder.Check(); err == nil {
		p.sums.Tree, err = found.Folder.Tree()
	}
	if err != nil {
		return nil, config.At(ref.Pos, err)
	}
	return p, config.At(ref.Pos, ungranted(kind, ref.Name, found.Folder, p.grant, len(l.experiment.Grants) > 0))
}

// granted is what the file grants a plugin, by the name or path by which it
// refers to it, or by its own name.
func (l *Loader) granted(names ...string) config.Grant {
	for _, name := range names {
		if g, ok := l.experiment.Grants[name]; ok {
			return within(l.dir, g)
		}
	}
	return config.Grant{}
}

// optionsError is the host's own word on options, as final as the plugin's.
type optionsError struct{ error }

// Unwrap lets a supervisor see that another try will not help.
func (e *optionsError) Unwrap() []error {
	return []error{e.error, &plugin.Error{Failure: plugin.Refused}}
}

func (p *Plugin) checkOptions(info sdk.Info) error {
	if len(info.Options) == 0 && p.Bundled == nil {
		return nil // it checks them itself
	}
	if errs := config.CheckOptions(p.ref, info.Options); len(errs) > 0 {
		return &optionsError{errors.Join(errs...)}
	}
	return nil
}

// Release tells one release of the plugin from the next.
func (p *Plugin) Release() string {
	if p.Bundled != nil {
		return p.Bundled.Version
	}
	return p.sums.Of()
}

// described keeps what the plugin says of itself, once its options fit that.
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

// Check loads plugins; every mistake is an error.
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

// strayGrants are grants to plugins that the experiment does not use.
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
