// Package setup prepares a session before any plugin starts: it has the plan, the locked directory, and
// the record of the experiment.
package setup

import (
	"context"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/holding"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/home"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Setup is an experiment that one host has taken.
type Setup struct {
	*holding.Holding
	Options options.Options
	// Starting ends if the user interrupts before the experiment runs.
	Starting context.Context
	Plan     *prepare.Plan
	// File is run.json; nil until a new experiment is created.
	File *runfile.File
	// Home tells the directory from a copy; nil: the experiment is new, has no directory, or is in a remote storage.
	Home *home.Home
	// Stage is nil if the machine and the disk are real.
	Stage   *Stage
	History *history.History
	// Machine is the history's machine. It is read-only.
	Machine *core.Machine
	// Record is nil until it is opened or created. Past reads it from its beginning.
	Record engine.Recorder
	Past   opening.Past

	failure chan error
}

// Stage replaces the machine and the disk in tests.
type Stage struct {
	Nodes []resource.Node
	// Leases are the settings of leases; nil: trials run on nodes.
	Leases *core.Leases
	PID    uint32
	// Boot identifies the machine since its last start.
	Boot string
	// Shelf keeps snapshots of plugins.
	Shelf snapshots.Shelf
	// Disk has the record, in segments of SegmentBytes.
	Disk         journal.FS
	SegmentBytes int64
	// Replayed is called with each batch of the records of earlier hosts.
	Replayed func(first uint64, records [][]byte)
	// Reported is the last event that the reporter has received.
	Reported uint64
	// Loader has the plugins that were found before.
	Loader *loading.Loader
}

// Take takes a prepared experiment for a host. It closes the plan if it fails.
func Take(ctx context.Context, p *prepare.Plan, o options.Options, stage *Stage) (*Setup, error) {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if p.Renamed { // commands in messages need the name
		o.Name = p.Experiment.Name
	}
	h := history.New()
	b := &Setup{Options: o, Starting: ctx, Plan: p, Stage: stage, History: h, Machine: h.Machine(),
		failure: make(chan error, 1)}
	if err := b.hold(); err != nil {
		p.Close()
		return nil, err
	}
	if o.Mode.Manual {
		p.Experiment.Trainable = nil // the caller trains
	}
	b.File = p.File
	b.Home = b.home()
	for _, text := range p.Warnings {
		b.Log.Warn(text)
	}
	return b, nil
}

// hold locks the directory, if there is one.
func (b *Setup) hold() (err error) {
	switch dir := b.Plan.Dir; {
	case b.Stage != nil:
		b.Holding = holding.Silent(b.Options.Clock)
		b.Past = func() (*history.History, error) { return history.From(journal.NewReader(b.Stage.Disk)), nil }
	case dir.Path() == "":
		m := &engine.Memory{}
		b.Holding, b.Record, b.Past = holding.InMemory(&b.Options), m, m.Past
	default:
		return b.take(dir)
	}
	return nil
}

// take locks the directory, and plans again what was changed before.
func (b *Setup) take(dir storage.Dir) (err error) {
	if b.Holding, err = holding.Take(dir, b.Plan.Remote.TakeLock(), &b.Options); err != nil {
		return err
	}
	b.Past = b.past
	if err = b.Plan.Renew(&b.Options); err != nil {
		b.Holding.Close()
	}
	return err
}

// Leased reports whether trials run on leases of an executor. Simulations use nodes instead.
func (b *Setup) Leased() bool {
	return b.Plan.Experiment.Leased() && !b.Options.Mode.Manual && !b.Options.Mode.Virtual && b.Stage == nil
}

// home looks whether the directory is a copy. One with a remote storage continues what is stored there, which one host
// has at a time.
func (b *Setup) home() *home.Home {
	if b.Stage != nil || !b.Kept() || b.File == nil || b.Plan.Remote != nil {
		return nil
	}
	return home.Of(b.Dir, b.File.RunID)
}

// Part makes a copy an experiment of its own, and says so where leases make a difference.
func (b *Setup) Part() error {
	if text := b.Home.About(); text != "" && b.Leased() {
		b.Log.Warn(text)
	}
	return b.Home.Part()
}

// Settle notes where the experiment is, so that a copy is known as one. Without that, it is taken for moved.
func (b *Setup) Settle() {
	if b.Home == nil {
		b.Home = b.home()
	}
	if err := b.Home.Note(); err != nil {
		b.Log.Warn("a copy of this directory will not be known as one: " + err.Error())
	}
}

// PointOf converts a trial's parameters to a point.
func (b *Setup) PointOf(params []byte) (space.Point, error) {
	return config.PointOf(b.Plan.Experiment.Space, params)
}

// Warn warns the user.
func (b *Setup) Warn(text string) { b.Log.Warn(text) }
