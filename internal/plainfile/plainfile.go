package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Error says what is in the place of a file or folder.
type Error struct {
	Path string
	// Is says what is there: "a link".
	Is string
	// Do says what the user can do about it.
	Do string
}

// Error implements error.
func (e *Error) Error() string { return e.Path + " is " + e.Is + ": " + e.Do }

// KindOf names the kind of a file.
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

// NotFile is the error of what is no plain file.
func NotFile(path string, m fs.FileMode) *Error {
	return &Error{path, KindOf(m), "tunehost has a file of that name; move it away"}
}

// Check refuses an open file that is not plain. With a flag to write, it refuses one that
// has other names, which would show what is written, too.
func Check(f *os.File, flag int) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return NotFile(f.Name(), info.Mode())
	case flag&(os.O_WRONLY|os.O_RDWR) != 0 && names(info) > 1:
		return &Error{f.Name(), "a file that has another name elsewhere (a hard link)", "put a copy in its place, as `cp` makes it"}
	}
	return nil
}

// names is how many names a file has.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// In opens a plain file in a folder, whatever was put in its place. One that it makes is
// readable by its owner alone.
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

// same says whether the file that was opened is what has the name: no link was followed.
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
