package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// RemoveCheckpoint deletes a checkpoint: first its name, so that nobody sees
// half of one.
func (d Dir) RemoveCheckpoint(trialDir string, id uint32) error {
	dir := CheckpointDir(trialDir, id)
	m, _ := ReadManifest(dir) // what cannot be read has no blobs that are known
	if err := removeCheckpoint(realDisk{}, dir); err != nil {
		return err
	}
	dropBlobs(d.Blobs(), m.Files)
	return nil
}

func removeCheckpoint(on disk, dir string) error {
	gone := dir + beingGone
	if err := on.remove(gone); err != nil { // an earlier host has not come further
		return err
	}
	if err := on.rename(dir, gone); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	// Else the disk may have the old name, of what has half gone.
	if err := on.sync(filepath.Dir(dir)); err != nil {
		return err
	}
	return on.remove(gone)
}

// SweepTrial removes what a host that died has left among a trial's checkpoints:
// those that nobody needs, half ones, and copies that attempts went on from. No
// attempt of the trial may run.
func (d Dir) SweepTrial(trialDir string, needed func(id uint32) bool) error {
	root := filepath.Join(trialDir, checkpoints)
	list, err := os.ReadDir(root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var errs []error
	for _, e := range list {
		switch id, err := strconv.ParseUint(e.Name(), 10, 32); {
		case err == nil && !needed(uint32(id)):
			errs = append(errs, d.RemoveCheckpoint(trialDir, uint32(id)))
		case e.Name() == restored, strings.HasSuffix(e.Name(), beingMade), strings.HasSuffix(e.Name(), beingGone):
			errs = append(errs, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// SweepBlobs removes what no checkpoint has any more.
func (d Dir) SweepBlobs() error { return sweepBlobs(d.Blobs()) }
