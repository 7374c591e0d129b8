//go:build unix

package process

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// maxSocketDir leaves room below the 108 bytes of a socket's path for
	// /th-1234567890 and the two names that go-plugin appends, which are like
	// /plugin-dir1234567890/plugin1234567890.
	maxSocketDir = 54
	// staleAfter is the age from which a directory that nobody holds is left
	// over from a host that was killed.
	staleAfter = time.Minute
)

// socketDir makes a directory of mode 0700 with a short path. It is held until
// the file is closed.
func socketDir() (dir string, held *os.File, err error) {
	base := os.TempDir()
	if len(base) > maxSocketDir {
		base = "/tmp"
	}
	sweepOnce.Do(func() { sweep(base) })
	if dir, err = os.MkdirTemp(base, "th-"); err != nil {
		return "", nil, err
	}
	if held, err = hold(dir); err != nil {
		_ = os.Remove(dir)
		return "", nil, err
	}
	return dir, held, nil
}

var sweepOnce sync.Once

// hold locks a directory; the lock ends with the file, or with the host.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the directories of hosts that were killed before they could.
func sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, "th-*"))
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if f, err := hold(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = f.Close()
		}
	}
}
