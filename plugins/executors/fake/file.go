package fake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// at is a time of the file; the zero time for 0.
func at(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// file is where the cluster is kept. Processes change it one at a time.
type file struct {
	path string
	// tries is how often the lock is tried, every lockEvery, before it is given up.
	tries int
}

const (
	lockEvery = 10 * time.Millisecond
	lockTries = 200
	// maxSize bounds what is read: the state of a cluster with 10,000 leases is smaller.
	maxSize = 64 << 20
)

// change reads the cluster, lets f change it, and writes it if f says so.
func (f file) change(now int64, change func(c *cluster) (write bool)) error {
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return fmt.Errorf("the folder of the state file cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	lock, err := f.lock(root, now)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	c, err := f.read(root, now)
	if err != nil || !change(c) {
		return err
	}
	text, err := c.encode()
	if err != nil {
		return err
	}
	return plainfile.Replace(root, filepath.Base(f.path), text)
}

// lock locks the file with the suffix .lock. Closing the file unlocks it.
func (f file) lock(root *os.Root, now int64) (*os.File, error) {
	lock, err := f.openLock(root, now)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) || try >= f.tries {
			break
		}
		time.Sleep(lockEvery)
	}
	_ = lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is locked by another process: end that process, or choose another file", lock.Name())
	}
	return nil, fmt.Errorf("%s cannot be locked: %w", lock.Name(), err)
}

// openLock opens the file to lock. It creates none beside a file that is no state of a cluster.
func (f file) openLock(root *os.Root, now int64) (*os.File, error) {
	name := filepath.Base(f.path) + ".lock"
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if _, err := f.read(root, now); err != nil {
			return nil, err
		}
	}
	return openOwn(root, name, os.O_CREATE|os.O_RDWR)
}

// read reads the cluster. A file that does not exist is a new cluster.
func (f file) read(root *os.Root, now int64) (*cluster, error) {
	opened, err := openOwn(root, filepath.Base(f.path), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return newCluster(now), nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	text, err := io.ReadAll(io.LimitReader(opened, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("it is longer than %d MiB", maxSize>>20)
	}
	if err != nil {
		return nil, f.foreign(err)
	}
	c, err := decode(text)
	if err != nil {
		return nil, f.foreign(err)
	}
	return c, nil
}

// foreign returns the error for a file that is no state of a cluster.
func (f file) foreign(why error) error {
	return fmt.Errorf("%s is no state of a fake cluster (%w): choose another file, or move it away", f.path, why)
}

// openOwn opens a regular file of this user, without waiting for anything.
func openOwn(root *os.Root, name string, flag int) (*os.File, error) {
	f, err := plainfile.In(root, name, flag)
	var other *plainfile.Error
	if errors.As(err, &other) {
		return nil, &plainfile.Error{Path: other.Path, Is: other.Is, Do: "choose another file, or move it away"}
	}
	if err != nil {
		return nil, err
	}
	if err := owned(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// owned refuses a file of another user, who would lose it or could change it.
func owned(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int64(s.Uid) != int64(geteuid()) {
		return fmt.Errorf("%s belongs to another user: choose another file", f.Name())
	}
	return nil
}

// geteuid is replaced by tests.
var geteuid = os.Geteuid
