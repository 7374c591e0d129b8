package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The errors to test for with errors.Is.
var (
	// ErrCorrupt: events that were durable are damaged or missing. The error is a *CorruptError. Nothing was written.
	ErrCorrupt = errors.New("journal is damaged")
	// ErrNewerFormat: a newer program wrote this journal. The error is a *NewerFormatError.
	ErrNewerFormat = errors.New("journal has a newer format")
	// ErrWrongRun: the journal belongs to another run than Options.RunID says.
	ErrWrongRun = errors.New("journal belongs to another run")
	// ErrNoJournal: there is no segment in the directory. It is also fs.ErrNotExist.
	ErrNoJournal = fmt.Errorf("no journal here (%w)", fs.ErrNotExist)
	// ErrExists: Create was called where a journal is. It is also fs.ErrExist.
	ErrExists = fmt.Errorf("a journal is here already (%w)", fs.ErrExist)
	// ErrNoSpace: the disk is full. Nothing was appended; the same Append may be called again later.
	ErrNoSpace = errors.New("no space for the journal")
	// ErrFailed: a write or sync has failed before; open the journal anew. The first failure is wrapped.
	ErrFailed = errors.New("journal has failed")
	// ErrClosed: the Journal or Reader has been closed.
	ErrClosed = errors.New("journal is closed")
	// ErrTooLarge: a record or batch is beyond the limits. Nothing was appended.
	ErrTooLarge = errors.New("too large for the journal")
	// ErrRewound: a crash took back unsynced events that this Reader had read already. Start with a new one.
	ErrRewound = errors.New("events that were read have been lost in a crash")
)

// CorruptError says where durable events are damaged or missing.
type CorruptError struct {
	File   string // name of the segment
	Offset int64  // byte in the segment at which the first thing is wrong
	Event  uint64 // number of the event that was expected there
	Reason string
}

// Error implements error in one line.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: damaged at byte %d, event %d: %s; nothing was changed: restore this file from a copy",
		e.File, e.Offset, e.Event, e.Reason)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// NewerFormatError says which version a file has and which this program knows.
type NewerFormatError struct {
	File           string
	Format, Newest uint16
}

// Error implements error in one line.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s: journal format %d, but this program knows formats up to %d: use a newer tunehost", e.File, e.Format, e.Newest)
}

// Is makes errors.Is(err, ErrNewerFormat) true.
func (e *NewerFormatError) Is(target error) bool { return target == ErrNewerFormat }

// isNoSpace says whether err is a full disk or a full quota, or a new segment for which there is no file descriptor.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// noSpace marks a full disk as ErrNoSpace and leaves other errors as they are.
func noSpace(err error) error {
	if isNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
