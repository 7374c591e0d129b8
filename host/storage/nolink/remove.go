//go:build unix

package nolink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RemoveAll is os.RemoveAll: it removes links below the folder, not their targets. It stays on one file system:
// what a program has mounted below the folder belongs to somebody else, and is an error.
func RemoveAll(path string) error {
	at, err := OpenDir(filepath.Dir(path))
	return removeFrom(at, err, path)
}

// RemoveTree is RemoveAll of a path that is not an experiment's: links above the folder are followed.
func RemoveTree(path string) error {
	at, err := os.Open(filepath.Dir(path))
	return removeFrom(at, err, path)
}

func removeFrom(at *os.File, err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.Close()
	name := filepath.Base(path)
	if name == "." || name == ".." || name == "/" {
		return &fs.PathError{Op: "remove", Path: path, Err: unix.EINVAL}
	}
	return removeAt(int(at.Fd()), name, path)
}

// removeAt removes what has a name in an open folder, the path of which is for errors.
func removeAt(at int, name, path string) error {
	err := unlinkat(at, name, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// A folder is EISDIR on Linux, and EPERM elsewhere. A file in a folder that is read-only is EACCES.
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, fs.ErrPermission) {
		return &fs.PathError{Op: "remove", Path: path, Err: err}
	}
	errIn := emptyAt(at, name, path, err)
	err = unlinkat(at, name, unix.AT_REMOVEDIR)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errIn != nil {
		return errIn
	}
	return &fs.PathError{Op: "remove", Path: path, Err: err}
}

// emptyAt removes what a folder has. If the name is none of a folder, it returns why the name could not be removed.
func emptyAt(at int, name, path string, unremoved error) error {
	fd, err := openHere(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return &fs.PathError{Op: "remove", Path: path, Err: unremoved}
	case err != nil:
		return whyNotHere("open", path, err)
	}
	folder := os.NewFile(uintptr(fd), path)
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	for _, n := range names {
		if errN := removeAt(fd, n, filepath.Join(path, n)); err == nil {
			err = errN
		}
	}
	return err
}

func unlinkat(at int, name string, flags int) error {
	for {
		if err := unix.Unlinkat(at, name, flags); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
