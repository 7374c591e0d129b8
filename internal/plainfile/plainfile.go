package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Error describes what is in the place of a file or folder.
type Error struct {
	Path string
	// Is is what was found: "a link".
	Is string
	// Do is what the user can do about it.
	Do string
}

// Error implements error.
func (e *Error) Error() string { return e.Path + " is " + e.Is + ": " + e.Do }

// KindOf returns the name of the kind of a file.
func KindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m.IsDir():
		return "a folder"
	case m.IsRegular():
		return "a file"
	}
	return "a special file"
}

// NotFile returns the error for anything but a regular file.
func NotFile(path string, m fs.FileMode) *Error {
	return &Error{path, KindOf(m), "tunehost has a file of that name; move it away"}
}

// Check refuses an open file that is not regular. With a flag to write, it also refuses a file with
// other names, which would change too.
func Check(f *os.File, flag int) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return NotFile(f.Name(), info.Mode())
	case flag&(os.O_WRONLY|os.O_RDWR) != 0 && names(info) > 1:
		return &Error{f.Name(), "a file that has another name elsewhere (a hard link)",
			"put a copy in its place, as `cp` makes it"}
	}
	return nil
}

// names returns the number of names of a file.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// In opens a regular file in a folder and refuses anything else. It creates files with mode 0600.
func In(root *os.Root, name string, flag int) (*os.File, error) {
	path := filepath.Join(root.Name(), name)
	if named, err := root.Lstat(name); err == nil && !named.Mode().IsRegular() {
		return nil, NotFile(path, named.Mode())
	}
	f, err := root.OpenFile(name, flag&^os.O_TRUNC|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	err = Check(f, flag)
	if err == nil {
		err = same(root, name, f)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err == nil {
		err = syscall.SetNonblock(int(f.Fd()), false)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// same reports whether the opened file is the one with the name: no link was followed.
func same(root *os.Root, name string, f *os.File) error {
	opened, errF := f.Stat()
	named, errN := root.Lstat(name)
	if err := errors.Join(errF, errN); err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return fmt.Errorf("%s was replaced while it was opened; try again", filepath.Join(root.Name(), name))
	}
	return nil
}
