package nolink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Error says what is in the place of a file or folder of an experiment.
type Error struct {
	Path string
	// Is says what is there: "a link".
	Is string
	// Do says what the user can do about it.
	Do string
}

func (e *Error) Error() string { return e.Path + " is " + e.Is + ": " + e.Do }

func linkError(path string) *Error {
	return &Error{path, "a link", "tunehost follows none inside of an experiment; put what it leads to in its place, or link to the experiment's whole directory"}
}

func notFile(path string, m fs.FileMode) *Error {
	return &Error{path, KindOf(m), "tunehost has a file of that name; move it away"}
}

// otherName is of a file that a host would write to, and its other name would show that.
func otherName(path string) *Error {
	return &Error{path, "a file that has another name elsewhere (a hard link)", "put a copy in its place, as `cp` makes it"}
}

func tooLarge(path string, size, limit int64) error {
	return fmt.Errorf("%s has %d bytes, more than the %d possible", path, size, limit)
}

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

// explain finds the link, pipe or socket that made the system refuse a path.
func explain(op, path string, err error) error {
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EMLINK) {
		if link := firstLink(path); link != "" {
			return linkError(link)
		}
	}
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EISDIR) {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return notFile(path, info.Mode())
		}
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// firstLink is the first element of a path that is a link; "" where none is.
func firstLink(path string) string {
	at := string(filepath.Separator)
	for name := range strings.SplitSeq(strings.Trim(path, at), string(filepath.Separator)) {
		at = filepath.Join(at, name)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}
