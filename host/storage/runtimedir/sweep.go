package runtimedir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// marker is the file that marks a folder as ours.
const marker = ".tunehost-home"

// magic begins every marker; the next line has the user's id.
const magic = "tunehost home 1: made by a process of tunehost, removed by the next one when nobody locks this folder\n"

// mark writes the marker, which must not exist.
func mark(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, marker), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%suid %d\npid %d\n", magic, os.Getuid(), os.Getpid())
	return errors.Join(err, f.Close())
}

// hold locks a folder until the file is closed or the process ends.
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

// sweep removes the homes of dead processes. It skips those that it cannot remove.
func sweep(root string) {
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		switch {
		case !e.IsDir():
		case isHome(dir):
			removeDead(dir)
		case isNamed(e.Name()) && isAbandoned(dir):
			removeUnmarked(dir)
		}
	}
}

// abandoned is the age of an empty folder whose process was killed before it wrote the marker, or after it
// removed it. A living one needs microseconds.
const abandoned = time.Minute

// isNamed reports whether freshDir gives such names.
func isNamed(name string) bool {
	return len(name) == len("h123456") && name[0] == 'h' && strings.Trim(name[1:], signs) == ""
}

func isAbandoned(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && PrivateFolder(dir, info) == nil && time.Since(info.ModTime()) > abandoned
}

// removeUnmarked removes a folder that is empty and not locked. If its process lives all the same, that
// makes another one.
func removeUnmarked(dir string) {
	lock, err := hold(dir)
	if err != nil {
		return
	}
	defer lock.Close()
	_ = os.Remove(dir)
}

// removeDead removes a home that is not locked.
func removeDead(dir string) {
	lock, err := hold(dir)
	if err != nil {
		return
	}
	defer lock.Close()
	if isHome(dir) { // it may have been replaced before it was locked
		_ = empty(dir)
	}
}

// A home is locked by its process, or for some microseconds by a reader or a cleaner.
const (
	lookAgain = 3
	lookPause = 10 * time.Millisecond
)

// isAlive reports whether a folder exists and its process is alive.
func isAlive(dir string) bool {
	for range lookAgain {
		if !marked(dir) { // permissions do not matter here
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

// isHome reports whether a folder is private to the user and has our marker with the user's id.
func isHome(dir string) bool {
	return Private(dir) == nil && marked(dir)
}

// marked reports whether a folder has our marker with the user's id.
func marked(dir string) bool {
	path := filepath.Join(dir, marker)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !owned(info) || info.Size() > 4096 {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(text, fmt.Appendf(nil, "%suid %d\n", magic, os.Getuid()))
}

// empty removes a home. The marker goes last, so that the next process removes what a kill leaves.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, nolink.RemoveTree(filepath.Join(dir, e.Name())))
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
