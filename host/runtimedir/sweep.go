package runtimedir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// marker is the file that says that a folder is ours.
const marker = ".tunehost-home"

// magic begins every marker; the line after it has the user's id.
const magic = "tunehost home 1: made by a process of tunehost, removed by the next one when nobody locks this folder\n"

// mark writes the marker: it must not exist.
func mark(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, marker), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%suid %d\npid %d\n", magic, os.Getuid(), os.Getpid())
	return errors.Join(err, f.Close())
}

// hold locks a folder until the file is closed, or the process ends.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the homes of dead processes. What it cannot remove stays.
func sweep(root string) {
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if dir := filepath.Join(root, e.Name()); e.IsDir() && isHome(dir) {
			removeDead(dir)
		}
	}
}

// removeDead removes a home that nobody holds.
func removeDead(dir string) {
	lock, err := hold(dir)
	if err != nil {
		return
	}
	defer lock.Close()
	if isHome(dir) { // it may have been removed and made again before it was locked
		_ = empty(dir)
	}
}

// A home that is locked is its process's, or for some microseconds that of one who
// looks or removes it.
const (
	lookAgain = 3
	lookPause = 10 * time.Millisecond
)

// lives says whether a home is there and its process lives.
func lives(dir string) bool {
	for range lookAgain {
		if !marked(dir) { // by us; that others can look into it too makes it no less alive
			return false
		}
		lock, err := hold(dir)
		if err == nil {
			_ = lock.Close()
			return false
		}
		time.Sleep(lookPause)
	}
	return true
}

// isHome says whether a folder is the user's alone and has our marker, with our user's id.
func isHome(dir string) bool {
	return Private(dir) == nil && marked(dir)
}

// marked says whether a folder has our marker, with our user's id.
func marked(dir string) bool {
	path := filepath.Join(dir, marker)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !owned(info) || info.Size() > 4096 {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(text, fmt.Appendf(nil, "%suid %d\n", magic, os.Getuid()))
}

// empty removes a home. The marker goes last, so that what a kill leaves of it is
// removed the next time.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, marker)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.Remove(dir)
}
