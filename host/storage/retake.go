package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// A staged checkpoint is finished once all its files are there: it then gets another name, and a
// manifest without files. The next host can complete it unless the machine was restarted, since
// nothing is synced yet.

// kept returns the directory of a checkpoint that is finished but not complete.
func kept(trialDir string, id uint32) string { return CheckpointDir(trialDir, id) + beingKept }

// finish says that a staged checkpoint will not be written to any more.
func finish(on disk, trialDir string, id uint32, m Manifest) error {
	dir := staging(trialDir, id)
	if _, err := nolink.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // already finished
	}
	m.Files = nil
	text, err := m.text()
	if err != nil {
		return err
	}
	return steps(
		func() error { return on.write(filepath.Join(dir, manifest), text) },
		func() error { return clearAway(on, kept(trialDir, id)) },
		func() error { return on.rename(dir, kept(trialDir, id)) },
	)
}

// Retake completes a checkpoint that another host began to take from a path, or that was saved on
// request if the path is "". After a reboot it accepts only complete checkpoints. Files that the other host has
// listed are compared with the list: others may have changed them meanwhile. It fills in m from what is known of the
// checkpoint.
func (d Dir) Retake(trialDir string, id uint32, m *Manifest, from string, rebooted bool) (bytes int64, err error) {
	complete := CheckpointDir(trialDir, id)
	if x, ok := readStarted(complete, m); ok {
		*m = x
		return x.Size(), checkAll(complete)
	}
	if rebooted {
		return 0, errors.New("the machine has been started again before it was on disk")
	}
	left := kept(trialDir, id)
	x, ok := readStarted(left, m)
	switch {
	case ok && len(x.Files) > 0: // all is on disk, but the name
		*m = x
		if err := checkAll(left); err != nil {
			return 0, err
		}
		return x.Size(), list(realDisk{}, trialDir, left, complete, x)
	case ok:
		*m = x
	default:
		if err := d.saving.takeAgain(trialDir, id, movedAlong(trialDir, from)); err != nil {
			return 0, err
		}
	}
	return d.Commit(trialDir, id, *m)
}

// ErrUnfinished says that a checkpoint was asked for, and that its trainable had not finished it.
var ErrUnfinished = errors.New("the trainable had not finished it")

// RemoveUnfinished removes what is left of a checkpoint that could not be saved, or that Retake could not complete.
// Folders with anything else in them belong to somebody else (B-155).
func (d Dir) RemoveUnfinished(trialDir string, id uint32) error {
	var errs []error
	offered := false
	for _, dir := range []string{staging(trialDir, id), kept(trialDir, id)} {
		if hostMade(dir) {
			offered = offered || hasLinks(dir)
			errs = append(errs, nolink.RemoveAll(dir))
		}
	}
	if offered { // which of the blobs are its files would take a hash of each
		errs = append(errs, d.SweepBlobs())
	}
	return errors.Join(errs...)
}

// hasLinks reports whether a file below a folder has another name.
func hasLinks(dir string) bool {
	found := errors.New("it has")
	return found == filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && linksOf(info) > 1 {
			return found
		}
		return nil
	})
}

// checkAll compares a checkpoint's files with its manifest, which costs a hash of each.
func checkAll(dir string) error {
	_, err := CheckCheckpoint(dir, true)
	return err
}

// readStarted reads the manifest of what may be the checkpoint of m.
func readStarted(dir string, m *Manifest) (x Manifest, ok bool) {
	x, err := ReadManifest(dir)
	return x, err == nil && x.Trial == m.Trial && x.Attempt == m.Attempt
}

// takeAgain is Take, which an earlier host may have left at any point.
func (s *Saving) takeAgain(trialDir string, id uint32, from string) error {
	if from == "" {
		return ErrUnfinished
	}
	if hasMoved(trialDir, id, from) {
		return nil
	}
	return s.Take(trialDir, id, from)
}

// movedAlong returns where a path in a trial's directory is now, or was until it was taken. Programs tell whole paths,
// and the experiment may have been moved or copied since: at the old place is nothing, or another experiment.
func movedAlong(trialDir, from string) string {
	const sep = string(filepath.Separator)
	_, rest, ok := strings.Cut(from, sep+filepath.Join("trials", filepath.Base(trialDir))+sep)
	if !ok || !filepath.IsAbs(from) {
		return from
	}
	return filepath.Join(trialDir, rest)
}

// hasMoved reports whether an earlier host has moved what was at a path: a move is one step, so that
// all of it is staged. The old path may have other content by now.
func hasMoved(trialDir string, id uint32, from string) bool {
	list, err := nolink.ReadDir(filepath.Join(staging(trialDir, id), contents))
	return err == nil && len(list) > 0 && Moves(trialDir, from)
}

// Moves reports whether Take moves what is at a path, which is fast, or copies it.
func Moves(trialDir, from string) bool {
	from, err := placed(in(trialDir, from))
	if err != nil || !movable(trialDir, from) {
		return false
	}
	info, err := os.Lstat(from)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir()
}
