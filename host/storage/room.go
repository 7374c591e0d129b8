package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/host/storage/lack"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// reserve is how much room the disk must have for a request that is recorded, in bytes: more than one request takes.
const reserve = 4 << 20

// FullError says what a disk lacks.
type FullError struct {
	dir     string
	missing lack.Lack
}

func (e *FullError) Error() string {
	what := e.missing.String()
	if e.missing == lack.Space {
		what += fmt.Sprintf(" (less than %d MiB are free)", reserve>>20)
	}
	return fmt.Sprintf("%s: %s: nothing can be recorded until there is room; %s, and the same request works", e.dir,
		what, e.missing.Remedy())
}

// Unwrap is the error of the system.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// Room is an error if the disk of a directory, which need not exist yet, has no room, or if the host there has used up
// its user's quota. A host waits for room, for as long as it takes, so that a client who waits for an answer is told
// before.
func Room(dir string) error {
	noted := Dir{path: dir}.Lacks()
	if noted == lack.Quota {
		return &FullError{dir, noted}
	}
	var at syscall.Statfs_t
	dir = existing(dir)
	err := syscall.Statfs(dir, &at)
	free := at.Bavail
	if os.Geteuid() == 0 {
		free = at.Bfree
	}
	if err != nil || at.Blocks == 0 || free >= reserve/uint64(at.Bsize) {
		return nil // what cannot be known is found out by the request
	}
	return &FullError{dir, cmp.Or(noted, lack.Of(dir, nil))}
}

// RoomForNew is Room for an experiment that does not exist yet: it needs new files, too.
func RoomForNew(dir string) error {
	if err := Room(dir); err != nil {
		return err
	}
	dir = existing(dir)
	f, err := nolink.Temporary(filepath.Join(dir, "room"), fileMode)
	if err == nil {
		_ = errors.Join(f.Close(), nolink.Remove(f.Name())) // the experiment's own files are what matters
	}
	if IsFull(err) {
		return &FullError{dir, lack.Of(dir, err)}
	}
	return nil
}

// IsFull reports whether something was not written for lack of room.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Advise says what to do about an error for lack of room, and what is missing there. Other errors stay.
func Advise(err error) error {
	if !IsFull(err) {
		return err
	}
	path := ""
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		path = p.Path
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		path = l.New
	}
	missing := lack.Of(existing(path), err)
	return fmt.Errorf("%w: %s; %s, and run the same command again", err, missing, missing.Remedy())
}

// existing returns a directory, or the first one above it that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
