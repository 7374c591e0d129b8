// Package inherit takes over what a new experiment begins with from others: what their trials
// have shown (learn_from), and the checkpoint that every trial starts from (restore).
package inherit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
)

// startID is the only checkpoint in the directory of [storage.Dir.Start].
const startID = 1

// Start copies the checkpoint that every trial of a new experiment starts from, so that later
// changes of the one that the file names do not matter (B-054). Unless kept, nothing is copied:
// nobody trains. It returns nil where the file names none.
func Start(e *config.Experiment, d storage.Dir, kept bool) (*core.Start, error) {
	if e.Restore == "" {
		return nil, nil
	}
	if err := present(e); err != nil {
		return nil, usererror.Wrap(err)
	}
	from := restoreDir(e)
	var m storage.Manifest
	err := outside(e, d.Path())
	if err != nil {
		return nil, usererror.Wrap(err)
	}
	if kept {
		err = fetch(from)
	}
	if err == nil {
		m.Iteration, err = iteration(e, from)
	}
	if err == nil && kept {
		m, err = d.Bring(d.Start(), startID, from)
	}
	if err != nil {
		return nil, usererror.Errorf("%s: restore: %w", e.PosOf("restore"), err)
	}
	return &core.Start{Iteration: m.Iteration}, nil
}

// iteration returns that of a checkpoint from which something is left to train.
func iteration(e *config.Experiment, from string) (uint64, error) {
	n, err := storage.Iteration(from)
	if why := e.NothingLeft(n); err == nil && why != "" {
		err = fmt.Errorf("the checkpoint %s; or, if the program begins with iteration 1 again, copy the files "+
			"(cp -r %s pretrained) and name the copy, whose iterations begin at 1", why,
			untrusted.Word(storage.FilesAt(from)))
	}
	return n, err
}

// fetch brings the files of a checkpoint to this machine if they are in the storage of its experiment alone.
func fetch(from string) error {
	root := storage.AwayAt(from)
	if root == "" {
		return nil
	}
	// It is in trials/NAME/checkpoints of the experiment.
	return mirror.BringHere(context.Background(), filepath.Join(root, "..", "..", "..", ".."), root)
}

// restoreDir is the checkpoint as the file names it: relative to the file, or, where
// nothing is there, to the working directory.
func restoreDir(e *config.Experiment) string {
	beside := filepath.Join(filepath.Dir(e.File), e.Restore)
	if _, err := os.Stat(beside); (err == nil || storage.AwayAt(beside) != "") && !filepath.IsAbs(e.Restore) {
		return beside
	}
	return e.Restore
}

// RecallStart finds the copy again.
func RecallStart(e *config.Experiment, d storage.Dir) (*core.Start, error) {
	if e.Restore == "" {
		return nil, nil
	}
	m, err := storage.CheckCheckpoint(StartDir(d), false)
	if err != nil {
		return nil, usererror.Errorf("every trial starts from a checkpoint that is kept in %s: %w; put it back from a "+
			"copy, or start anew with another --name", d.Start(), err)
	}
	return &core.Start{Iteration: m.Iteration}, nil
}

// StartDir is where the copy is.
func StartDir(d storage.Dir) string { return storage.CheckpointDir(d.Start(), startID) }

// Restorable checks that the checkpoint to start from exists, and can be one. A checkpoint of an experiment is read and
// compared with its manifest.
func Restorable(e *config.Experiment) error {
	err := present(e)
	if err != nil || e.Restore == "" || storage.AwayAt(restoreDir(e)) != "" {
		return err
	}
	if err = storage.Bringable(restoreDir(e)); err == nil {
		_, err = iteration(e, restoreDir(e))
	}
	if err != nil {
		return &config.Error{Pos: e.PosOf("restore"), Msg: "restore: " + err.Error()}
	}
	return nil
}

// present checks that there is a folder to start from.
func present(e *config.Experiment) error {
	if e.Restore == "" {
		return nil
	}
	if view.Is(restoreDir(e)) {
		return &config.Error{Pos: e.PosOf("restore"), Msg: "restore: " + e.Restore + " is an experiment, expected a " +
			"checkpoint of one: `tunehost best " +
			untrusted.Word(e.Restore) + "` shows that of the best trial"}
	}
	if !mirror.IsURL(e.Storage) {
		if err := outside(e, filepath.Join(e.Storage, e.Name)); err != nil {
			return err
		}
	}
	if storage.AwayAt(restoreDir(e)) != "" {
		return nil
	}
	if info, err := os.Stat(restoreDir(e)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return &config.Error{Pos: e.PosOf("restore"), Msg: "restore: " + e.Restore + " is not a directory"}
	}
	return nil
}

// outside checks that the checkpoint to start from does not hold the directory of the experiment, into which it is
// copied.
func outside(e *config.Experiment, dir string) error {
	if !storage.Holds(restoreDir(e), dir) {
		return nil
	}
	return &config.Error{Pos: e.PosOf("restore"), Msg: fmt.Sprintf("restore: %s holds the directory of the "+
		"experiment, %s, and would be copied into itself: name a folder that holds the checkpoint alone, or "+
		"another storage", e.Restore, dir)}
}
