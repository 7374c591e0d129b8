package storage

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Names in a trial's directory. No format begins with a dot.
const (
	exports   = "export"
	exporting = ".new"
)

// ExportDir returns the directory of a trial's model in a format: files/ and a manifest, as for a
// checkpoint.
func ExportDir(trialDir, format string) string { return filepath.Join(trialDir, exports, format) }

// ExportFiles returns the directory in it that holds the model.
func ExportFiles(trialDir, format string) string {
	return filepath.Join(ExportDir(trialDir, format), contents)
}

// NewExports returns the directory where a trainable leaves models, each in a folder named after its
// format.
func NewExports(trialDir string) string { return filepath.Join(trialDir, exports, exporting) }

// CheckExports returns an error if there is something else in the place of that directory, a link on the way to it, or
// a mount point in it: a trainable empties it.
func CheckExports(trialDir string) error {
	return unlessMissing(nolink.NoMounts(NewExports(trialDir)))
}

// CommitExport completes the model that a trainable left in a format, as [Dir.Commit] does a
// checkpoint. It replaces a model of an earlier host. If it fails, the model stays where it was, for a
// retry.
func (d Dir) CommitExport(trialDir, format string, m Manifest) (bytes int64, err error) {
	return d.commitExport(realDisk{}, trialDir, format, m)
}

func (d Dir) commitExport(on disk, trialDir, format string, m Manifest) (bytes int64, err error) {
	left := filepath.Join(NewExports(trialDir), format)
	info, err := nolink.Lstat(left)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", left, reason(err))
	case !info.IsDir():
		return 0, fmt.Errorf("%s is %s and no folder", left, nolink.KindOf(info.Mode()))
	}
	if err := nolink.NoMounts(left); err != nil {
		return 0, fmt.Errorf("the model: %w", err)
	}
	final := ExportDir(trialDir, format)
	staged := final + beingMade
	err = errors.Join(nolink.RemoveAll(staged), nolink.MkdirAll(staged, dirMode))
	if err == nil {
		err = nolink.Rename(left, filepath.Join(staged, contents))
	}
	if err != nil {
		return 0, err
	}
	m.Format = format
	bytes, err = d.commitAs(on, trialDir, staged, final, m)
	if err == nil {
		return bytes, nil
	}
	_ = nolink.Rename(filepath.Join(staged, contents), left) // for the next try
	return 0, errors.Join(err, nolink.RemoveAll(staged))
}
