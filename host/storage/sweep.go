package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// RemoveCheckpoint deletes a checkpoint. It renames it first, so that no reader sees half of one.
func (d Dir) RemoveCheckpoint(trialDir string, id uint32) error {
	dir := CheckpointDir(trialDir, id)
	m, _ := ReadManifest(dir) // the blobs of an unreadable manifest are unknown
	if err := removeCheckpoint(realDisk{}, dir); err != nil {
		return err
	}
	dropBlobs(d.Blobs(), m.Files)
	return nil
}

func removeCheckpoint(on disk, dir string) error {
	gone := dir + beingGone
	if err := clearAway(on, gone); err != nil { // left by an earlier host
		return err
	}
	if err := on.rename(dir, gone); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	// Without the sync, the disk may still have the old name after half of it is removed.
	if err := on.sync(filepath.Dir(dir)); err != nil {
		return err
	}
	return on.remove(gone)
}

// SweepTrial removes what a dead host left among a trial's checkpoints: unneeded ones, incomplete ones
// that are not owed, and the copies that attempts, of which there were so many, restored from. No attempt of the
// trial may run.
func (d Dir) SweepTrial(trialDir string, attempts uint32, needed, owed func(id uint32) bool) error {
	root := filepath.Join(trialDir, checkpoints)
	list, err := nolink.ReadDir(root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var errs []error
	for _, e := range list {
		path := filepath.Join(root, e.Name())
		suffix := filepath.Ext(e.Name())
		base := strings.TrimSuffix(e.Name(), suffix)
		switch id, ours := numberOf(base); {
		case e.Name() == restored:
			errs = append(errs, sweepRestored(path, attempts))
		case !ours || !e.IsDir():
		case (suffix == beingMade || suffix == beingKept || base == e.Name()) && owed(id):
		case (suffix == beingMade || suffix == beingKept || suffix == beingGone) && hostMade(path):
			errs = append(errs, nolink.RemoveAll(path))
		case base == e.Name() && !needed(id) && isCheckpoint(path):
			errs = append(errs, d.RemoveCheckpoint(trialDir, id))
		}
	}
	return errors.Join(errs...)
}

// numberOf returns the number in a checkpoint's name. Names that a host does not give belong to
// others.
func numberOf(name string) (id uint32, ok bool) {
	n, err := strconv.ParseUint(name, 10, 32)
	return uint32(n), err == nil && fmt.Sprintf("%06d", n) == name
}

// hostMade reports whether a folder has nothing but what a host puts into an incomplete checkpoint.
func hostMade(dir string) bool {
	folders := []string{contents, contents + beingMade}
	files := []string{manifest, manifest + beingMade, halfCopy, halfLink}
	list, err := nolink.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		if e.IsDir() {
			return !slices.Contains(folders, e.Name())
		}
		return !slices.Contains(files, e.Name())
	})
}

// clearAway makes way for a new incomplete checkpoint: it removes one of an earlier host, and gives anything else
// another name (B-155).
func clearAway(on disk, dir string) error {
	if _, err := nolink.Lstat(dir); errors.Is(err, fs.ErrNotExist) || hostMade(dir) {
		return on.remove(dir)
	}
	_, err := keepAside(on, dir)
	return err
}

// isCheckpoint reports whether a folder is a checkpoint that a host made.
func isCheckpoint(dir string) bool {
	info, err := nolink.Lstat(filepath.Join(dir, manifest))
	return err == nil && info.Mode().IsRegular()
}

// sweepRestored removes the copies of attempts, and their folder unless it holds something else (B-155).
func sweepRestored(dir string, attempts uint32) error {
	list, err := nolink.ReadDir(dir)
	left := len(list)
	for _, e := range list {
		if attempt, ours := numberOf(e.Name()); ours && attempt <= attempts {
			err = errors.Join(err, nolink.RemoveAll(filepath.Join(dir, e.Name())))
			left--
		}
	}
	if err == nil && left == 0 {
		err = nolink.Remove(dir)
	}
	return err
}

// SweepTemporaries removes the temporary files in a folder that a killed host or program of ours left.
// No process may be writing there.
func SweepTemporaries(dir string) error {
	list, err := nolink.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range list {
		if path := filepath.Join(dir, e.Name()); plainfile.IsTemporary(e.Name()) && ownFile(path, 0) {
			errs = append(errs, nolink.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// SweepBlobs removes the blobs that no checkpoint uses any more.
func (d Dir) SweepBlobs() error { return sweepBlobs(d.Blobs()) }
