package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openOwn opens a file of the trial's directory. What is in its place and is no plain
// file is refused: a link could lead to any file of the user's, a pipe would be waited for.
func openOwn(dir, name string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, notPlain(root, name, err)
	}
	opened, errF := f.Stat()
	named, errN := root.Lstat(name)
	if err := errors.Join(errF, errN); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !opened.Mode().IsRegular() || !os.SameFile(opened, named) || flag != os.O_RDONLY && otherNames(opened) {
		return nil, errors.Join(notPlain(root, name, errOtherNames), f.Close())
	}
	return f, syscall.SetNonblock(int(f.Fd()), false)
}

// errOtherNames: what is written to the file is written to under those, too.
var errOtherNames = errors.New("it has another name elsewhere (a hard link); put a copy in its place")

func otherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// notPlain says so of what is none; else it is the error.
func notPlain(root *os.Root, name string, err error) error {
	if info, errL := root.Lstat(name); errL == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a link, a pipe or a folder: tunehost has a file of that name; move it away", filepath.Join(root.Name(), name))
	}
	return err
}

// replaceOwn puts a file with the content in the place of whatever has the name.
func replaceOwn(dir, name string, content []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tmp := name + ".tmp"
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(tmp, name)
}
