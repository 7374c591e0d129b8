package recovery

import (
	"errors"
	"fmt"
	"os"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/compose/leasing"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/unrecorded"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/validate/needs"
)

// Open opens the record and replays it. Nothing else restores state.
func (e *Recovery) Open() error {
	b := e.setup
	id, err := b.File.ID()
	if err != nil {
		return usererror.Wrap(err)
	}
	fs, err := journal.OpenDir(b.Dir.Journal())
	if errors.Is(err, os.ErrNotExist) {
		return b.Gone()
	}
	if err != nil {
		return err
	}
	var lost error
	accept := func() error {
		lost = e.complete()
		return lost
	}
	err = e.open(fs, journal.Options{RunID: id, Accept: accept}, e.replay)
	if lost != nil {
		return usererror.Wrap(lost)
	}
	if errors.Is(err, journal.ErrNoJournal) {
		return b.Gone()
	}
	if err != nil {
		return usererror.Wrap(b.Plan.Remote.Explain(fmt.Errorf("%s: %w", b.Dir.Journal(), diskspace.Advise(err))))
	}
	return nil
}

// complete returns an error if the record has lost its end: a host would do again, and replace, what is gone.
func (e *Recovery) complete() error {
	b := e.setup
	last := e.views.Events.Last()
	has := unrecorded.Record{Seed: b.File.Seed, Trials: b.Machine.Trials(), Last: last}
	if err := unrecorded.Trial(b.Dir, has); err != nil {
		return err
	}
	written := unrecorded.Written(b.Dir)
	if doubt := unrecorded.Doubt(b.Dir, written); doubt != "" {
		b.Log.Warn(doubt)
	}
	return unrecorded.Event(b.Dir, written, last)
}

// OpenOnStage is Open on a stage, which may have no record yet.
func (e *Recovery) OpenOnStage() (fresh bool, err error) {
	stage := e.setup.Stage
	o, err := e.setup.OnStage()
	if err != nil {
		return false, err
	}
	err = e.open(stage.Disk, o, func(first uint64, records [][]byte) error {
		stage.Replayed(first, records)
		return e.replay(first, records)
	})
	if errors.Is(err, journal.ErrNoJournal) {
		return true, nil
	}
	return false, err
}

func (e *Recovery) open(fs journal.FS, o journal.Options, replay journal.Replay) error {
	j, opened, err := journal.Open(fs, o, replay)
	if err != nil {
		return err
	}
	e.setup.Record, e.Begun, e.ToldBefore = j, opened.Next > 1, e.views.Events.Last()
	if opened.Cut != nil {
		e.setup.Log.Warn("the end of the record was torn by a crash and is cut off: " + opened.Cut.String())
	}
	return nil
}

// Check returns an error if this host cannot resume the experiment.
func (e *Recovery) Check() error {
	return errors.Join(e.sameTrainer(), leasing.SameExecutor(e.setup), e.programThere(), e.extendable())
}

// sameTrainer checks that the trials are trained as before: by the caller, or by the trainable.
func (e *Recovery) sameTrainer() error {
	b := e.setup
	switch manual := b.Machine.Spec().Manual; {
	case !e.Begun || manual == b.Options.Mode.Manual:
		return nil
	case manual:
		return usererror.Errorf("%s: its trials are trained by workers or a caller: resume it with `tunehost "+
			"asktell`, or with `tunehost serve`, where the first request of a worker resumes it%s", b.Dir.Path(),
			failedAgain(b.Options.Again.Errored || len(b.Options.Again.Trials) > 0))
	}
	return usererror.Errorf("%s: its trials are trained by its trainable; resume it with `tunehost run`, or "+
		"give another --name", b.Dir.Path())
}

// failedAgain says where failed trials of workers run again, if that is what the user wants.
func failedAgain(wanted bool) string {
	if !wanted {
		return ""
	}
	return ", and Retry in its dashboard hands failed trials out again"
}

// programThere checks that the remaining trials can start. An ended experiment needs no program.
func (e *Recovery) programThere() error {
	if ended, _ := e.setup.Machine.Outcome(); ended != 0 {
		return nil
	}
	return usererror.Wrap(needs.Startable(e.setup.Plan.Experiment))
}

// extendable checks that an extension fits the recorded trials.
func (e *Recovery) extendable() error {
	warning, err := e.setup.Plan.Extendable(e.setup.Machine, e.views.Trials.Name)
	if warning != "" {
		e.setup.Log.Warn(warning)
	}
	return err
}

// MakeDirs makes the directories of trials that ran on another machine.
func (e *Recovery) MakeDirs() error {
	if e.setup.Plan.Remote == nil {
		return nil
	}
	return e.views.Trials.MakeDirs()
}
