package storage

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/host/usererror"
)

// Unwritable turns the error of a user who may not write to an existing experiment into one that names its directory
// and says what to do. Other errors stay.
func (d Dir) Unwritable(err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	path := d.path
	if at, ok := errors.AsType[*os.LinkError](err); ok {
		path = at.New // one file of it, such as one that chattr protects
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(err) {
		err = cause
	}
	return usererror.Errorf("%s cannot be written: %w; what only reads works there; to continue or change it, make it "+
		"writable, or copy it to where you may write and use the copy", path, err)
}

// Unwritten says what to do about the error of a command that could not write a file of an experiment, for lack of
// permission or of room. Other errors stay.
func (d Dir) Unwritten(err error) error { return d.Unwritable(Advise(err)) }

// Writable is the error with which this user cannot continue the experiment, or nil.
func (d Dir) Writable() error {
	err := unix.Faccessat(unix.AT_FDCWD, d.path, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err == nil {
		err = readOnly(d.path)
	}
	if err != nil {
		return d.Unwritable(&fs.PathError{Op: "access", Path: d.path, Err: err})
	}
	return nil
}
