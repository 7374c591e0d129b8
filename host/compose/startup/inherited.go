package startup

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/inherit"
	"github.com/tunehost/tunehost/host/usererror"
)

// Inherited is what an experiment has taken over from others.
type Inherited struct {
	setup   *setup.Setup
	lessons inherit.LearnedTrials
	from    *core.Start // the checkpoint that every trial starts from
}

// NewInherited returns an Inherited without content.
func NewInherited(b *setup.Setup) *Inherited { return &Inherited{setup: b} }

// Take takes over what the file of a new experiment names.
func (i *Inherited) Take() (err error) {
	b := i.setup
	e := b.Plan.Experiment
	if i.lessons, err = inherit.Learn(e, b.File.Seed, b.Dir.Path(), b.Log); err != nil {
		return err
	}
	if e.Restore != "" && b.Options.Mode.Manual {
		return usererror.Errorf("%s: restore: trials are trained by the caller of `tunehost asktell`, who keeps their "+
			"checkpoints; leave restore out", e.PosOf("restore"))
	}
	i.from, err = inherit.Start(e, b.Dir, b.Kept())
	return err
}

// Keep writes the lessons into the directory of a new experiment.
func (i *Inherited) Keep() (err error) {
	i.setup.File.Learned, err = i.lessons.Keep(i.setup.Dir)
	return err
}

// Recall reads what the experiment took over when it began.
func (i *Inherited) Recall() (err error) {
	b := i.setup
	i.lessons, err = inherit.Recall(b.Dir, b.File.Learned, b.Machine.Learned())
	from, errStart := inherit.RecallStart(b.Plan.Experiment, b.Dir)
	i.from = from
	return errors.Join(err, errStart)
}
