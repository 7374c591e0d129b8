package host

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/naming"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// trials knows what trials are called and where their files are.
type trials struct {
	*view.Subjects
	facts      *view.Facts
	machine    *core.Machine
	experiment *config.Experiment
	storage    storage.Dir
	seed       uint64
}

func newTrials(x *view.State) *trials {
	return &trials{Subjects: view.NewSubjects(x), facts: x.Facts, machine: x.Machine, experiment: x.Config,
		storage: x.Facts.Dir,
		seed:    x.Seed}
}

func (t *trials) id(no core.TrialNo) string { return naming.ID(t.seed, uint32(no)) }

// name is how messages speak of a trial.
func (t *trials) name(no core.TrialNo) string { return t.facts.TrialName(no) }

// start is what a trainable is told of an attempt.
func (t *trials) start(a core.StartAttempt) *sdk.Trial {
	e, spec := t.experiment, t.machine.Spec()
	x := &sdk.Trial{
		ID: t.id(a.Trial), Number: uint32(a.Trial), Attempt: a.Attempt, Experiment: e.Name,
		Params: t.machine.Params(a.Trial), Seed: seeds.For(t.seed, seeds.Trial, uint64(a.Trial)),
		Dir: t.Dir(a.Trial), Resources: demand.Sum(t.machine.Request(a.Trial)), CheckpointEvery: spec.Checkpoint.Every,
		CheckpointAtEnd: spec.Checkpoint.AtEnd, GraceSeconds: e.StopGrace.Seconds(),
	}
	if log := e.Log; log != (config.Log{On: true}) {
		x.Logs = &sdk.Logs{}
		x.Logs.Stdout, x.Logs.Stderr = log.Files()
	}
	x.Bundles = t.bundles(a, x.Resources)
	for _, b := range x.Bundles {
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

// bundles are the places that were granted to an attempt; sum is all of them in JSON.
func (t *trials) bundles(a core.StartAttempt, sum []byte) []sdk.Bundle {
	asked := t.machine.Request(a.Trial).Bundles()
	out := make([]sdk.Bundle, len(a.Placement.Slots))
	for i, slot := range a.Placement.Slots {
		out[i] = sdk.Bundle{Node: t.machine.NodeName(slot.Node), Resources: sum, Devices: slot.Devices}
		if len(asked) > 1 {
			out[i].Resources = demand.Amounts(asked[i].Items())
		}
	}
	return out
}
