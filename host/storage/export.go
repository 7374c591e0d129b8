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

// ExportDir is where a trial's model is in a format: files/ and a manifest, as a
// checkpoint has them.
func ExportDir(trialDir, format string) string { return filepath.Join(trialDir, exports, format) }

// ExportFiles is the directory in it that holds the model.
func ExportFiles(trialDir, format string) string {
	return filepath.Join(ExportDir(trialDir, format), contents)
}

// NewExports is where a trainable leaves models, each in a folder of its format's
// name.
func NewExports(trialDir string) string { return filepath.Join(trialDir, exports, exporting) }

// CommitExport makes the model that a trainable has left in a format whole, as
// [Dir.Commit] does a checkpoint. It replaces one that an earlier host has taken.
// Where it fails, the model stays where it was left, for another try.
func (d Dir) CommitExport(trialDir, format string, m Manifest) (bytes int64, err error) {
	return commitExport(realDisk{}, d.Blobs(), trialDir, format, m)
}

func commitExport(on disk, blobs, trialDir, format string, m Manifest) (bytes int64, err error) {
	left := filepath.Join(NewExports(trialDir), format)
	info, err := nolink.Lstat(left)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", left, reason(err))
	case !info.IsDir():
		return 0, fmt.Errorf("%s is %s and no folder", left, nolink.KindOf(info.Mode()))
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
	bytes, err = commitAs(on, blobs, trialDir, staged, final, m)
	if err == nil {
		return bytes, nil
	}
	_ = nolink.Rename(filepath.Join(staged, contents), left) // else the next try says that it is gone
	return 0, errors.Join(err, nolink.RemoveAll(staged))
}
