//go:build unix

package nolink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenDir opens a folder to list or sync it.
func OpenDir(path string) (*os.File, error) {
	fd, err := look(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, explain("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// IsDir returns an error if a path does not lead to a folder without links.
func IsDir(path string) error {
	f, err := OpenDir(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// ReadDir is os.ReadDir.
func ReadDir(path string) ([]fs.DirEntry, error) {
	f, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// OpenRoot is os.OpenRoot; the caller checks what is below the folder.
func OpenRoot(path string) (*os.Root, error) {
	f, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if err := sameFolder(root, f); err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// sameFolder checks that a path still leads to the same folder.
func sameFolder(root *os.Root, f *os.File) error {
	a, errA := root.Stat(".")
	b, errB := f.Stat()
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if !os.SameFile(a, b) {
		return fmt.Errorf("%s was replaced while it was opened", f.Name())
	}
	return nil
}

// parent opens the folder that contains a path.
func parent(path string) (*os.Root, string, error) {
	root, err := OpenRoot(filepath.Dir(path))
	return root, filepath.Base(path), err
}

// within runs a function in the folder that contains a path.
func within(path string, do func(at *os.Root, name string) error) error {
	at, name, err := parent(path)
	if err != nil {
		return err
	}
	return errors.Join(fullPath(path, do(at, name)), at.Close())
}

// fullPath puts the whole path into an error.
func fullPath(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	}
	return err
}

// Mkdir is os.Mkdir.
func Mkdir(path string, perm fs.FileMode) error {
	at, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer at.Close()
	if err := unix.Mkdirat(int(at.Fd()), filepath.Base(path), uint32(perm.Perm())); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// MkdirAll is os.MkdirAll.
func MkdirAll(path string, perm fs.FileMode) error {
	err := Mkdir(path, perm)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := MkdirAll(filepath.Dir(path), perm); err != nil {
			return err
		}
		err = Mkdir(path, perm)
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return IsDir(path)
}

// Remove is os.Remove: it removes a link, not its target.
func Remove(path string) error {
	return within(path, func(at *os.Root, name string) error { return at.Remove(name) })
}

// Chmod is os.Chmod.
func Chmod(path string, mode fs.FileMode) error {
	return within(path, func(at *os.Root, name string) error {
		info, err := at.Lstat(name)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = linkError(path)
		}
		if err != nil {
			return err
		}
		return at.Chmod(name, mode)
	})
}

// Rename is os.Rename.
func Rename(from, to string) error {
	return between("rename", from, to, func(x, y int, old, name string) error { return unix.Renameat(x, old, y, name) })
}

// Link is os.Link.
func Link(from, to string) error {
	return between("link", from, to, func(x, y int, old, name string) error { return unix.Linkat(x, old, y, name, 0) })
}

// between runs a function with names in two folders.
func between(op, from, to string, do func(x, y int, old, name string) error) error {
	x, err := OpenDir(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := OpenDir(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer y.Close()
	if err := do(int(x.Fd()), int(y.Fd()), filepath.Base(from), filepath.Base(to)); err != nil {
		return &os.LinkError{Op: op, Old: from, New: to, Err: err}
	}
	return nil
}
