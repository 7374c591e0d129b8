package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/ownership"
)

// PlaceError says that an experiment cannot be in a directory, or that the user may not read it.
type PlaceError struct {
	Text string // the directory and the reason
	Do   string // what to do about it; may be empty
	Err  error  // of the system
}

func (e *PlaceError) Error() string {
	if e.Do == "" {
		return e.Text
	}
	return e.Text + ": " + e.Do
}

// Unwrap returns the cause.
func (e *PlaceError) Unwrap() error { return e.Err }

// Closed returns a [*PlaceError] for an error of a missing permission; it names the closed file or
// directory and its owner. It returns other errors unchanged.
func Closed(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	e := &PlaceError{Text: fmt.Sprintf("%s: %v", path, reason(err)), Err: err}
	at := closedAt(path)
	if info, err := os.Lstat(at); err == nil {
		e.Text += whose(at, info)
	}
	return e
}

// closedAt returns the first directory above a path that refuses the user, or the path.
func closedAt(path string) string {
	at := path
	for filepath.Dir(at) != at {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrPermission) {
			break
		}
		at = filepath.Dir(at)
	}
	return at
}

// whose names the owner and the mode of a closed file.
func whose(path string, info fs.FileInfo) string {
	owner, _, ok := ownership.Of(info)
	switch me := os.Geteuid(); {
	case !ok:
		return ""
	case owner == me:
		return fmt.Sprintf(" (the mode of %s is %04o)", path, info.Mode().Perm())
	default:
		return fmt.Sprintf(" (%s belongs to another user, %d; you are %d)", path, owner, me)
	}
}

// Look returns an error where the user may not list the directory.
func (d Dir) Look() error {
	_, err := os.Lstat(d.Experiment())
	if errors.Is(err, fs.ErrPermission) {
		return Closed(d.Experiment(), err)
	}
	return nil
}
