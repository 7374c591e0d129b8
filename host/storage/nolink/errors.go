package nolink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// Error says what is in the place of a file or folder of an experiment.
type Error = plainfile.Error

// KindOf names the kind of a file.
func KindOf(m fs.FileMode) string { return plainfile.KindOf(m) }

// Refused is the error of a path where something of a mode is in the place of a file or folder of an experiment.
func Refused(path string, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return linkError(path)
	}
	return plainfile.NotFile(path, mode)
}

func linkError(path string) *Error {
	return &Error{Path: path, Is: "a link",
		Do: "tunehost follows no links inside an experiment; replace it by its target, or link to the " +
			"experiment's whole directory"}
}

func tooLarge(path string, size, limit int64) error {
	return &TooLargeError{Path: path, Size: size, Limit: limit}
}

// TooLargeError is the error of a file that has more bytes than may be read.
type TooLargeError struct {
	Path        string
	Size, Limit int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d allowed", e.Path, e.Size, e.Limit)
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
			return plainfile.NotFile(path, info.Mode())
		}
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// firstLink returns the first element of a path that is a link, or "".
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
