package setup

import (
	"errors"

	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
)

// Begin makes the content of run.json of a new experiment.
func (b *Setup) Begin() (err error) {
	b.File, err = runfile.New(b.Plan.Experiment, b.Options.Clock.Now())
	return err
}

// Create creates the record of a new experiment, and then its experiment file.
func (b *Setup) Create() error {
	id, err := b.File.ID()
	if err != nil {
		return err
	}
	if b.Record, err = newRecord(b.Dir, id); err != nil {
		return err
	}
	// The experiment file is written last: once it exists, the experiment exists.
	return storage.WriteFile(b.Dir.Experiment(), b.Plan.Experiment.Source)
}

// CreateOnStage creates the record of a new experiment on a stage.
func (b *Setup) CreateOnStage() error {
	o, err := b.OnStage()
	if err != nil {
		return err
	}
	j, err := journal.Create(b.Stage.Disk, o)
	if err == nil {
		b.Record = j
	}
	return err
}

// OnStage returns the options for the record on a stage.
func (b *Setup) OnStage() (journal.Options, error) {
	id, err := b.File.ID()
	return journal.Options{RunID: id, SegmentBytes: b.Stage.SegmentBytes}, err
}

// newRecord creates the record of a new experiment. It replaces a record without events: its host
// died before the experiment existed.
func newRecord(d storage.Dir, id journal.RunID) (engine.Recorder, error) {
	fs, err := journal.MakeDir(d.Journal())
	if err != nil {
		return nil, err
	}
	j, err := journal.Create(fs, journal.Options{RunID: id})
	if err == nil {
		return j, nil
	}
	if !errors.Is(err, journal.ErrExists) {
		return nil, err
	}
	if found, err := journal.Verify(fs, journal.Options{}, nil); err != nil || found.Next > 1 {
		return nil, usererror.Errorf("%s has the record of an experiment, but %s is gone: put it back, or give the "+
			"new experiment another --name", d.Journal(), d.Experiment())
	}
	if err := journal.Clear(fs); err != nil {
		return nil, err
	}
	if j, err = journal.Create(fs, journal.Options{RunID: id}); err != nil {
		return nil, err
	}
	return j, nil
}

// past opens the record from its beginning. Somebody may have removed it in the meantime.
func (b *Setup) past() (*history.History, error) {
	h, err := history.Open(b.Dir.Journal())
	if errors.Is(err, journal.ErrNoJournal) {
		err = b.Gone()
	}
	return h, err
}

// Gone returns the error for a record that was removed.
func (b *Setup) Gone() error {
	return usererror.Errorf("%s: the experiment's record is gone: put it back, or give the new experiment another "+
		"--name", b.Dir.Journal())
}
