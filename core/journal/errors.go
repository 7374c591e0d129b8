package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Errors to test for with errors.Is.
var (
	// ErrCorrupt: durable events are damaged or missing. The error is a *CorruptError. Nothing was
	// written.
	ErrCorrupt = errors.New("journal is damaged")
	// ErrNewerFormat: a newer program wrote this journal. The error is a *NewerFormatError.
	ErrNewerFormat = errors.New("journal has a newer format")
	// ErrWrongRun: the journal belongs to a run other than Options.RunID.
	ErrWrongRun = errors.New("journal belongs to another run")
	// ErrNoJournal: the directory has no segment. It is also fs.ErrNotExist.
	ErrNoJournal error = noJournal{}
	// ErrExists: Create was called on an existing journal. It is also fs.ErrExist.
	ErrExists = fmt.Errorf("a journal is here already (%w)", fs.ErrExist)
	// ErrNoSpace: the disk is full. Nothing was appended; the same Append may be called again later.
	ErrNoSpace = errors.New("no space for the journal")
	// ErrFailed: an earlier write or sync failed, which is wrapped; open the journal again.
	ErrFailed = errors.New("journal has failed")
	// ErrClosed: the Journal or Reader is closed.
	ErrClosed = errors.New("journal is closed")
	// ErrTooLarge: a record or batch exceeds the limits. Nothing was appended.
	ErrTooLarge = errors.New("too large for the journal")
	// ErrRewound: a crash removed unsynced events that this Reader had read. Use a new Reader.
	ErrRewound = errors.New("events that were read were lost in a crash")
)

type noJournal struct{}

func (noJournal) Error() string { return "the record is gone: if it was moved, put it back" }

func (noJournal) Is(target error) bool { return target == fs.ErrNotExist }

// A CorruptError says where durable events are damaged or missing.
type CorruptError struct {
	File   string // name of the segment
	Offset int64  // byte in the segment of the first error
	Event  uint64 // number of the event expected there
	Reason string
	Do     string // "" is to restore the file from a copy
}

// Error implements error in one line.
func (e *CorruptError) Error() string {
	do := cmp.Or(e.Do, "restore this file from a copy")
	return fmt.Sprintf("%s: damaged at byte %d, event %d: %s; nothing was changed: %s", e.File, e.Offset, e.Event,
		e.Reason, do)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A NewerFormatError has the version of a file and the newest version that this program knows.
type NewerFormatError struct {
	File           string
	Format, Newest uint16
}

// Error implements error in one line.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s: journal format %d, but this program knows formats up to %d: use a newer tunehost", e.File,
		e.Format, e.Newest)
}

// Is makes errors.Is(err, ErrNewerFormat) true.
func (e *NewerFormatError) Is(target error) bool { return target == ErrNewerFormat }

// isNoSpace reports whether err means a full disk, a full quota, or no file descriptor for a new
// segment.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE)
}

// noSpace turns a full disk into ErrNoSpace and returns other errors unchanged.
func noSpace(err error) error {
	if isNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
