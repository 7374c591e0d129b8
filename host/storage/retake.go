package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// A staged checkpoint is finished once all that belongs to it is there: it gets another
// name, and a manifest without files. From then on a host that takes over can make it
// whole, as long as the machine has not been started again: nothing of it is synced.

// kept is where a checkpoint is that is finished and not whole.
func kept(trialDir string, id uint32) string { return CheckpointDir(trialDir, id) + beingKept }

// Finish says that nobody writes to a staged checkpoint any more.
func Finish(trialDir string, id uint32, m Manifest) error { return finish(realDisk{}, trialDir, id, m) }

func finish(on disk, trialDir string, id uint32, m Manifest) error {
	dir := staging(trialDir, id)
	if _, err := nolink.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // it is
	}
	m.Files = nil
	text, err := m.text()
	if err != nil {
		return err
	}
	return steps(
		func() error { return on.write(filepath.Join(dir, manifest), text) },
		func() error { return on.remove(kept(trialDir, id)) },
		func() error { return on.rename(dir, kept(trialDir, id)) },
	)
}

// Retake makes a checkpoint whole that another host has begun to take from a path, or
// had saved where that is "". After a reboot it takes only what is whole. It completes m by
// what is known of the checkpoint.
func (d Dir) Retake(trialDir string, id uint32, m *Manifest, from string, rebooted bool) (bytes int64, err error) {
	if x, ok := begun(CheckpointDir(trialDir, id), m); ok {
		*m = x
		return x.Size(), nil
	}
	if rebooted {
		return 0, errors.New("the machine has been started again before it was on disk")
	}
	if x, ok := begun(kept(trialDir, id), m); ok {
		*m = x
	} else if err := takeAgain(trialDir, id, from); err != nil {
		return 0, err
	}
	return d.Commit(trialDir, id, *m)
}

// begun reads the manifest of what may be the checkpoint of m.
func begun(dir string, m *Manifest) (x Manifest, ok bool) {
	x, err := ReadManifest(dir)
	return x, err == nil && x.Trial == m.Trial && x.Attempt == m.Attempt
}

// takeAgain is Take where an earlier host may have come to any point of it.
func takeAgain(trialDir string, id uint32, from string) error {
	if from == "" {
		return errors.New("the trainable had not finished it")
	}
	if hasMoved(trialDir, id, from) {
		return nil
	}
	return Take(trialDir, id, from)
}

// hasMoved: what the program has in the trial's directory is moved in one step, so that
// what is staged is all of it. There may be something else under its old name by now.
func hasMoved(trialDir string, id uint32, from string) bool {
	list, err := nolink.ReadDir(filepath.Join(staging(trialDir, id), contents))
	return err == nil && len(list) > 0 && Moves(trialDir, from)
}

// Moves says whether Take moves what is at a path, which is quick, and does not copy it.
func Moves(trialDir, from string) bool {
	if !filepath.IsAbs(from) {
		from = filepath.Join(trialDir, from)
	}
	home, err1 := filepath.EvalSymlinks(trialDir)
	from, err2 := placed(from)
	if err1 != nil || err2 != nil || !movable(home, from) {
		return false
	}
	info, err := os.Lstat(from)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir()
}
