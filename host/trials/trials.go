// Package trials knows what the trials of an experiment are called, where their files are, and what
// a trainable is told of an attempt.
package trials

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/inherit"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Trials are the trials of one experiment.
type Trials struct {
	*view.Subjects
	facts      *view.Facts
	machine    *core.Machine
	experiment *config.Experiment
	dir        storage.Dir
	seed       uint64
}

// New returns the trials of an experiment.
func New(x *view.State) *Trials {
	return &Trials{Subjects: view.NewSubjects(x), facts: x.Facts, machine: x.Machine, experiment: x.Config,
		dir: x.Facts.Dir, seed: x.Seed}
}

// ID is what files and users call a trial.
func (t *Trials) ID(no core.TrialNo) string { return naming.ID(t.seed, uint32(no)) }

// Name is what messages call a trial.
func (t *Trials) Name(no core.TrialNo) string { return t.facts.TrialName(no) }

// Start is what a trainable is told of an attempt.
func (t *Trials) Start(a core.StartAttempt) *sdk.Trial {
	e, spec := t.experiment, t.machine.Spec()
	x := &sdk.Trial{
		ID: t.ID(a.Trial), Number: uint32(a.Trial), Attempt: a.Attempt, Experiment: e.Name,
		Params: t.machine.Params(a.Trial), Seed: seeds.For(t.seed, seeds.Trial, uint64(a.Trial)),
		Dir: t.Dir(a.Trial), Resources: request.Sum(t.machine.Request(a.Trial)), CheckpointEvery: spec.Checkpoint.Every,
		CheckpointAtEnd: spec.Checkpoint.AtEnd, GraceSeconds: e.StopGrace.Seconds(),
	}
	if log := e.Log; log != (config.Log{On: true}) {
		x.Logs = &sdk.Logs{}
		x.Logs.Stdout, x.Logs.Stderr = log.Files()
	}
	x.Bundles = t.bundles(a, x.Resources)
	for _, b := range x.Bundles {
		if b.Node != x.Bundles[0].Node { // the program starts on the first node: it cannot use those of others
			continue
		}
		for _, id := range b.Devices {
			if !slices.Contains(x.Devices, id) { // bundles may share one
				x.Devices = append(x.Devices, id)
			}
		}
	}
	if len(e.Export) > 0 {
		x.Export, x.ExportDir = e.Export, storage.NewExports(x.Dir)
	}
	if a.Restore.ID != 0 {
		x.Restore, x.Iteration = storage.RestoredDir(x.Dir, a.Attempt), a.Restore.Iteration
	}
	return x
}

// bundles are the places that were granted to an attempt; sum is the total in JSON.
func (t *Trials) bundles(a core.StartAttempt, sum []byte) []sdk.Bundle {
	asked := t.machine.Request(a.Trial).Bundles()
	out := make([]sdk.Bundle, len(a.Placement.Slots))
	for i, slot := range a.Placement.Slots {
		out[i] = sdk.Bundle{Node: t.machine.NodeName(slot.Node), Resources: sum, Devices: slot.Devices}
		if len(asked) > 1 {
			out[i].Resources = request.Amounts(asked[i].Items())
		}
	}
	return out
}

// Checkpoint is the directory of the checkpoint that an attempt continues from.
func (t *Trials) Checkpoint(ref core.CheckpointRef) string {
	if ref.Trial == core.NoTrial {
		return inherit.StartDir(t.dir)
	}
	return storage.CheckpointDir(t.DirOf(ref.Trial, ref.ID), ref.ID)
}

// MakeDirs makes the directories of trials that ran on another machine, for what reporters write
// there. The trials' own files were not copied.
func (t *Trials) MakeDirs() error {
	for no := range core.TrialNo(t.machine.Trials()) {
		if t.machine.View(no).Attempt == 0 {
			continue
		}
		if err := t.dir.MakeTrialDir(t.Dir(no), t.machine.Params(no)); err != nil {
			return err
		}
	}
	return nil
}
