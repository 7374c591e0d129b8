package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/ownership"
	"github.com/tunehost/tunehost/internal/lazily"
)

// handovers is the folder in a trial's directory where programs make the checkpoints that they hand
// over.
const handovers = ".checkpoints"

// unfinished matches a checkpoint that the SDK for Python has begun and not finished (new_checkpoint
// in plugins/sdk/python/tunehost/_script.py; tempfile draws the rest).
var unfinished = lazily.Regexp(`^\.new-[a-z0-9_]{8}$`)

// SweepUnfinished removes the checkpoints that a trial's program had begun when it was killed. No
// attempt of the trial may run, and the trial must owe no checkpoint, since a program can hand over
// one that still has this name.
func SweepUnfinished(trialDir string) error {
	root := filepath.Join(trialDir, handovers)
	list, err := nolink.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range list {
		path := filepath.Join(root, e.Name())
		if e.IsDir() && unfinished().MatchString(e.Name()) && ownFile(path, fs.ModeDir) {
			errs = append(errs, nolink.RemoveAll(path))
		}
	}
	return errors.Join(errs...)
}

// Mine reports whether the path is a plain file that belongs to the user of this process.
func Mine(path string) bool { return ownFile(path, 0) }

// ownFile reports whether the path is a file of this kind that belongs to the user of this process.
func ownFile(path string, kind fs.FileMode) bool {
	info, err := nolink.Lstat(path)
	if err != nil || info.Mode().Type() != kind {
		return false
	}
	owner, _, ok := ownership.Of(info)
	return ok && owner == os.Geteuid()
}
