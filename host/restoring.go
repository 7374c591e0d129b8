package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

// startID is the only checkpoint in the directory of [storage.Dir.Start].
const startID = 1

// bring copies the checkpoint that every trial of a new experiment starts from: what
// becomes of the one that the file names changes nothing here (B-054).
func (s *session) bring() error {
	e := s.experiment
	if e.Restore == "" {
		return nil
	}
	if s.options.manual {
		return userError("%s: restore: trials are trained by the caller of `tunehost asktell`, who keeps their checkpoints; leave restore out", e.PosOf("restore"))
	}
	if err := restorable(e); err != nil {
		return &UserError{err}
	}
	from := restoreDir(e)
	var m storage.Manifest
	var err error
	if s.lock == nil { // nothing is written, and nobody trains
		m.Iteration, err = storage.Iteration(from)
	} else {
		m, err = s.dir.Bring(s.dir.Start(), startID, from)
	}
	if err != nil {
		return userError("%s: restore: %w", e.PosOf("restore"), err)
	}
	s.from = &core.Start{Iteration: m.Iteration}
	return nil
}

// restoreDir is the checkpoint as the file names it: relative to the file, or where
// nothing is there, to the working directory.
func restoreDir(e *config.Experiment) string {
	beside := filepath.Join(filepath.Dir(e.File), e.Restore)
	if _, err := os.Stat(beside); err == nil && !filepath.IsAbs(e.Restore) {
		return beside
	}
	return e.Restore
}

// recallStart finds the copy again.
func (s *session) recallStart() error {
	if s.experiment.Restore == "" {
		return nil
	}
	m, err := storage.CheckCheckpoint(storage.CheckpointDir(s.dir.Start(), startID), false)
	if err != nil {
		return userError("every trial starts from a checkpoint that is kept in %s: %w", s.dir.Start(), err)
	}
	s.from = &core.Start{Iteration: m.Iteration}
	return nil
}

// restorable says whether there is the checkpoint to start from.
func restorable(e *config.Experiment) error {
	if e.Restore == "" {
		return nil
	}
	if view.Is(restoreDir(e)) {
		return &config.Error{Pos: e.PosOf("restore"), Msg: "restore: " + e.Restore + " is an experiment, expected a checkpoint of one: `tunehost best " +
			e.Restore + "` shows that of the best trial"}
	}
	if info, err := os.Stat(restoreDir(e)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return &config.Error{Pos: e.PosOf("restore"), Msg: "restore: " + e.Restore + " is not a directory"}
	}
	return nil
}

// checkpoint is the one that an attempt goes on from.
func (t *trials) checkpoint(ref core.CheckpointRef) string {
	if ref.Trial == core.NoTrial {
		return storage.CheckpointDir(t.storage.Start(), startID)
	}
	return storage.CheckpointDir(t.DirOf(ref.Trial, ref.ID), ref.ID)
}
