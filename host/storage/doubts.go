package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tunehost/tunehost/host/ours"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// Doubts are what may go wrong in a directory that a host is about to work in, each a
// warning: file systems on which a lock is none, and what is wrong with [Dir.Ours] where
// the user trusts the directory all the same.
func (d Dir) Doubts() (list []string) {
	if err := d.shared(); err != nil {
		list = append(list, err.Error())
	}
	if name := remote(d.path); name != "" {
		list = append(list, fmt.Sprintf("%s is on %s: that a second host is kept out, and that what is synced is on disk, is up to it; let one machine alone run this experiment", d.path, name))
	}
	return list
}

// Ours is an error where another user could change what a host runs from the directory,
// and where it writes. The directory need not exist yet.
func (d Dir) Ours() error {
	if modeless(d.path) {
		return nil // the modes that are seen were made up; see Doubts
	}
	return d.shared()
}

func (d Dir) shared() error {
	if err := ours.Above(d.path); err != nil {
		return err
	}
	for _, path := range []string{d.path, d.Trials(), d.Journal(), d.Snapshots(), d.Start(), d.Blobs()} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is %s and no directory of its own: put the experiment's in its place", path, plainfile.KindOf(info.Mode()))
		}
		if err == nil {
			err = ours.Check(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
