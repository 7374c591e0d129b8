package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/ours"
)

// PlaceError is a directory in which no experiment can be, or which the user may not read.
type PlaceError struct {
	Text string // which, and why
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

// Closed is an error of a file or directory. Where the user lacks a permission, it is a
// [*PlaceError] that names what is closed, and whose that is.
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

// closedAt is the directory above a path that does not let the user in, or the path.
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

// whose says whose a closed file is, or that it is the user's own.
func whose(path string, info fs.FileInfo) string {
	owner, _, ok := ours.Of(info)
	switch me := os.Geteuid(); {
	case !ok:
		return ""
	case owner == me:
		return fmt.Sprintf(" (the mode of %s is %04o)", path, info.Mode().Perm())
	default:
		return fmt.Sprintf(" (%s belongs to another user, %d; you are %d)", path, owner, me)
	}
}

// Look is an error where the user may not see what is in the directory.
func (d Dir) Look() error {
	_, err := os.Lstat(d.Experiment())
	if errors.Is(err, fs.ErrPermission) {
		return Closed(d.Experiment(), err)
	}
	return nil
}
