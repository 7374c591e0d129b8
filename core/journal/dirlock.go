//go:build unix

package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/internal/plainfile"
)

const lockName = "LOCK"

// A Lock guarantees that only this process writes in a directory. The kernel releases it when the
// process ends, so there are no stale locks: a LOCK file that nobody holds means nothing.
type Lock struct {
	file *os.File
	path string
}

// A LockedError says who holds the lock. B-085
type LockedError struct {
	Dir     string
	PID     int    // 0 if the holder has not written it yet
	Started string // when the holder took it, RFC 3339
	Host    string // the holder's machine
}

// Error implements error in one line.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another process, which is just starting or leaving", e.Dir)
	}
	return fmt.Sprintf("%s is in use by process %d on %s since %s: stop that one first", e.Dir, e.PID, e.Host,
		e.Started)
}

// Passing reports whether somebody is just beginning or ending: the holder has not written who it is, or it is this
// process, which asks others only when it does not have the experiment itself.
func (e *LockedError) Passing() bool { return e.PID == 0 || e.PID == os.Getpid() }

// LockDir takes the lock of the directory dir, or returns a *LockedError. It writes the time now to
// the file, for information.
func LockDir(dir string, now time.Time) (*Lock, error) { return lockDir(dir, now, "") }

// LockBriefly is LockDir for who gives the lock back within moments, and says so in the file: others wait for that. A
// host that starts while settings are changed does not fail.
func LockBriefly(dir string, now time.Time) (*Lock, error) { return lockDir(dir, now, briefly) }

func lockDir(dir string, now time.Time, note string) (*Lock, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := plainfile.In(root, lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := lock(file, dir, now, note); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &Lock{file, filepath.Join(dir, lockName)}, nil
}

// A TakenError is the path of a lock file that was removed or replaced, so that the lock is void.
type TakenError string

// Error implements error in one line.
func (e TakenError) Error() string {
	return string(e) + " was removed or replaced while this host held it, so another host could write here too; " +
		"make sure that none does, then resume the experiment"
}

// Check returns an error if the lock file is no longer in its place: a [GoneError] if its directory is gone.
func (l *Lock) Check() error {
	now, err := os.Lstat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	held, errH := l.file.Stat()
	if err == nil && errH == nil && os.SameFile(now, held) {
		return nil
	}
	dir := filepath.Dir(l.path)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return GoneError(dir)
	}
	return cmp.Or[error](errH, TakenError(l.path))
}

// Holder returns who holds the lock of the directory dir, or nil. It does not disturb hosts and
// writes nothing.
func Holder(dir string) (*LockedError, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := plainfile.In(root, lockName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	err = flock(file, syscall.LOCK_SH)
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, err
	}
	var held *LockedError
	if err := readHolder(file, dir); !errors.As(err, &held) {
		return nil, err
	}
	return held, nil
}

// Holder takes a shared lock for a few microseconds, so LockDir retries for this long.
const (
	lockTries = 10
	lockRetry = 10 * time.Millisecond
	// A process that was killed while it started another one leaves its lock to that process until
	// it executes its program; a brief holder may be slow on a busy machine.
	deadTries = 500
)

func lock(file *os.File, dir string, now time.Time, note string) error {
	err := flock(file, syscall.LOCK_EX)
	for range lockTries {
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockRetry)
		err = flock(file, syscall.LOCK_EX)
	}
	for range deadTries {
		if !errors.Is(err, syscall.EWOULDBLOCK) || !holderIsDead(file, dir) && !holderIsBrief(file) {
			break
		}
		time.Sleep(lockRetry)
		err = flock(file, syscall.LOCK_EX)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readHolder(file, dir)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", filepath.Join(dir, lockName), err)
	}
	return writeHolder(file, now, note)
}

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

const holderFormat = "pid %d\nstarted %s\nhost %s\n"

// briefly is the last line of a holder that gives the lock back within moments.
const briefly = "briefly\n"

func writeHolder(file *os.File, now time.Time, note string) error {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	text := fmt.Appendf(nil, holderFormat, os.Getpid(), now.UTC().Format(time.RFC3339), host)
	_, err = file.WriteAt(append(text, note...), 0)
	return err
}

// readHolder returns the *LockedError for the contents of the file, as far as they are readable.
func readHolder(file *os.File, dir string) error {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	if err != nil {
		return fmt.Errorf("%s is in use by another process (%w)", dir, err)
	}
	locked := &LockedError{Dir: dir}
	if n, _ := fmt.Sscanf(string(text), holderFormat, &locked.PID, &locked.Started, &locked.Host); n < 3 {
		locked.PID = 0
	}
	return locked
}

// ForeignLock reports whether the lock file of a directory has a text that no holder writes. A file of a crash may have
// zeros, or a part.
func ForeignLock(dir string) (bool, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	file, err := plainfile.In(root, lockName, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	begin, _, _ := strings.Cut(holderFormat, "%")
	known := strings.HasPrefix(string(text), begin) || strings.HasPrefix(begin, string(text))
	return !known && strings.Trim(string(text), "\x00") != "", err
}

// holderIsBrief reports whether the holder gives the lock back within moments. A lock that was just given back, or
// taken, has nobody's name.
func holderIsBrief(file *os.File) bool {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	return err == nil && (len(text) == 0 || strings.HasSuffix(string(text), "\n"+briefly))
}

// holderIsDead reports whether the recorded holder is a process of this machine that has ended.
func holderIsDead(file *os.File, dir string) bool {
	var held *LockedError
	host, err := os.Hostname()
	if err != nil || !errors.As(readHolder(file, dir), &held) || held.PID == 0 || held.Host != host {
		return false
	}
	return errors.Is(syscall.Kill(held.PID, 0), syscall.ESRCH)
}

// Unlock releases the lock. The file stays: removing it could break the lock of the next holder.
func (l *Lock) Unlock() error {
	if err := l.file.Truncate(0); err != nil {
		_ = l.file.Close()
		return err
	}
	// A process that this one is just starting has the file as well, until it executes its program.
	_ = flock(l.file, syscall.LOCK_UN)
	return l.file.Close()
}
