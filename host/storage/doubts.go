package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/ownership"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// Doubts returns warnings about a directory that a host is about to use: file systems without reliable
// locks, and the errors of [Dir.CheckOwnership] if the user chose to trust the directory.
func (d Dir) Doubts() (list []string) {
	if err := d.shared(); err != nil {
		list = append(list, err.Error())
	}
	if name := remote(d.path); name != "" {
		list = append(list, fmt.Sprintf("%s is on %s, which has to keep out a second host and to keep synced data on "+
			"disk: run this experiment on one machine only", d.path, name))
	}
	return list
}

// CheckOwnership returns an error if another user could change programs that a host runs from the directory, or the
// files that it writes there. The directory need not exist yet.
func (d Dir) CheckOwnership() error {
	if lacksModes(d.path) {
		return nil // the file system invents modes; see Doubts
	}
	return d.shared()
}

// CheckResults returns the error with which a host would refuse to make the directory of an experiment in a folder,
// which need not exist yet.
func CheckResults(folder string) error {
	d, err := At(filepath.Join(folder, "experiment"))
	if err != nil {
		return err
	}
	return d.CheckOwnership()
}

// CheckLink returns an error if a path is a link that another user has made to a directory which is not that user's.
func CheckLink(path string) error { return ownership.CheckLink(path) }

func (d Dir) shared() error {
	return d.sharedIn(d.path, d.Trials(), d.Journal(), d.Snapshots(), d.Start(), d.Blobs())
}

// sharedStore is shared for the copy of an experiment in a shared directory.
func (d Dir) sharedStore() error {
	list := []string{d.path}
	for _, name := range []string{"trials", "journal", "start", "blobs", "nodes"} {
		list = append(list, filepath.Join(d.path, name))
	}
	return d.sharedIn(list...)
}

// sharedIn looks at the folders above the directory, and at folders in it.
func (d Dir) sharedIn(folders ...string) error {
	if err := ownership.CheckAbove(d.path); err != nil {
		return err
	}
	for _, path := range folders {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = notOwn(path, info.Mode())
		}
		if err == nil {
			err = ownership.Check(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notOwn returns the error for what is in the place of a directory. A link to one may be trusted.
func notOwn(path string, mode fs.FileMode) error {
	const do = "put the experiment's in its place"
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return &PlaceError{Text: fmt.Sprintf("%s is %s, not a directory", path, plainfile.KindOf(mode)),
			Do: do + ", or choose another with --storage or --name"}
	}
	return fmt.Errorf("%s is %s and no directory of its own: %s", path, plainfile.KindOf(mode), do)
}
