// Package pluginset opens the plugins of an experiment for a host.
package pluginset

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Set has the plugins of an experiment.
type Set struct {
	opening.Plugins
	// Loader has the plugins that were found.
	Loader *loading.Loader
	// Requesting is nil if trials request what the file says.
	Requesting *attempt.Requesting
	// Nodes are the sessions with nodes, if trials run on leases; nil: trials run on this machine. It is
	// set before trials start.
	Nodes remote.Sessions
	// Serve is told what prepares nodes for the programs of groups. It is set with Nodes.
	Serve func(remote.Ranks)
	// GiveUp gives up a lease on which nothing can start. It is set with Nodes.
	GiveUp func(lease core.LeaseID, why string)
	// Relays are the reporters that are plugins.
	Relays []*publish.PluginReporter

	setup     *setup.Setup
	shipped   *remote.Uploads     // nil until the first opener
	trainable sdk.TrainableTraits // needed after the driver of trials has taken the trainable
}

// New returns a set of plugins that are not open yet.
func New(b *setup.Setup) *Set {
	p := &Set{setup: b}
	if b.Stage != nil {
		p.Loader = b.Stage.Loader
	}
	return p
}

// Opener returns the opener of this experiment's plugins.
func (p *Set) Opener() *opening.Opener {
	b := p.setup
	virtual := b.Options.Mode.Virtual && b.Stage == nil
	o := &opening.Opener{Experiment: b.Plan.Experiment, Seed: b.File.Seed, Capacity: b.File.Capacity,
		Bundled: b.Options.Plugins, Loader: p.Loader, BaseDir: filepath.Dir(b.File.File),
		Log: b.Log, LogPath: b.LogPath(), Clock: b.Options.Clock, Marked: b.Marked,
		Timeout:   b.Options.CallTimeout,
		InProcess: b.Options.PluginsHere(), Direct: virtual, Trusted: !virtual || b.Options.Trust,
		Run: b.File.RunID, SnapshotEvery: cmp.Or(b.Options.Mode.SnapshotEvery, snapshots.Every)}
	if p.Nodes != nil {
		o.Executor = &remote.Executor{Sessions: p.Nodes, Here: o.Here(), Uploads: p.uploads(o.BaseDir)}
	}
	switch {
	case b.Stage != nil:
		o.Alone, o.Shelf = true, b.Stage.Shelf
	case b.Kept():
		o.Shelf = snapshots.Folder(b.Dir.Snapshots())
	}
	return o
}

// Open opens searcher, scheduler and trainable, told of what happened so far: the searcher up to
// the observation told, the scheduler up to decided.
func (p *Set) Open(told, decided uint64) (err error) {
	b := p.setup
	if err := p.Find(); err != nil {
		return err
	}
	h := &opening.Redelivery{Past: b.Past, Encode: b.PointOf}
	if p.Plugins, err = p.Opener().Open(b.Starting, h, told, decided, b.Options.Await); err != nil {
		return b.UnlessInterrupted(err)
	}
	p.trainable = p.Plugins.Traits().Trainable
	if p.trainable.Requests {
		p.Requesting, err = p.requesting(p.Trainer)
	}
	return err
}

// Traits returns the traits that the plugins have reported.
func (p *Set) Traits() spec.Traits {
	t := p.Plugins.Traits()
	t.Trainable = p.trainable
	return t
}

// OpenReporters opens the reporters that are plugins.
func (p *Set) OpenReporters() (err error) {
	if !p.setup.Kept() {
		return nil // nothing is kept that could be told
	}
	p.Relays, err = p.Opener().Reporters(p.setup.Starting, p.setup.Dir.Path())
	if err != nil {
		return p.setup.UnlessInterrupted(err)
	}
	return nil
}

// Find finds the experiment's plugins, and compares them with those that it began with. None is
// started before.
func (p *Set) Find() (err error) {
	if p.Loader != nil {
		return nil // found before
	}
	b := p.setup
	if p.Loader, err = loading.New(b.Options.Plugins, b.Plan.Experiment, filepath.Dir(b.File.File)); err != nil {
		return err
	}
	if err := errors.Join(p.Loader.Check(loading.Uses(b.Plan.Experiment))...); err != nil {
		return usererror.Wrap(err)
	}
	if b.Options.Mode.LockedAt.Path() != "" && b.Options.Trust { // a simulation of what an experiment recorded
		return usererror.Wrap(p.Loader.Allowed(b.Options.Mode.LockedAt))
	}
	if !b.Kept() || b.Options.AcceptPlugins {
		return nil
	}
	if locked, err := lockfile.Read(b.Dir); err == nil && locked != nil && locked.Tunehost != lockfile.Version() {
		b.Log.Info(fmt.Sprintf("tunehost.lock was written by tunehost %s, this is %s", locked.Tunehost,
			lockfile.Version()))
	}
	return usererror.Wrap(p.Loader.Allowed(b.Dir))
}

// Lock records the plugins of the experiment in tunehost.lock, once they have been opened.
func (p *Set) Lock() error {
	b := p.setup
	if !b.Kept() {
		return nil
	}
	now := lockfile.New(lockfile.Version(), p.Loader.Locked())
	if before, err := lockfile.Read(b.Dir); err == nil && before != nil {
		now.Succeed(before, b.Options.AcceptPlugins, b.Options.Clock.Now())
		if before.Same(now) {
			return nil
		}
	} else {
		for _, line := range p.Loader.Uncovered() {
			b.Log.Info(line)
		}
	}
	return now.Write(b.Dir)
}

// CloseRest closes everything except the searcher, the scheduler and the trainable.
func (p *Set) CloseRest() {
	p.Requesting.Close()
	for _, r := range p.Relays {
		_ = r.Close() // does nothing if it is closed
	}
}
