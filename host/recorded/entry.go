package recorded

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
)

// Entry is one event of a record.
type Entry struct {
	// Number is its place, from 1.
	Number uint64
	// At is the experiment's running time, in nanoseconds.
	At int64
	// Event belongs to the machine that it is applied to.
	Event core.Event
	// Bytes are the event as it was recorded, valid during the call only.
	Bytes []byte
}

// ErrStop, returned by a function that is told entries, ends the telling without an error.
var ErrStop = errors.New("no further")

// Batch tells f the entries of some records, of which the first has the number first.
// It is a journal.Replay once f is given. What goes wrong with an entry, also what the
// core or f refuses with a panic, is an error that names its number; f's own errors are
// returned as they are.
func Batch(first uint64, records [][]byte, f func(Entry) error) error {
	_, err := walk(first, records, f)
	return stopped(err)
}

func stopped(err error) error {
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// walk returns how many entries f was told.
func walk(first uint64, records [][]byte, f func(Entry) error) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &entryError{first + uint64(n) - 1, senseless(v)}
		}
	}()
	for n < len(records) {
		number, b := first+uint64(n), records[n]
		at, e, err := record.Parse(b)
		if err != nil {
			return n, &entryError{number, err}
		}
		n++
		if err := f(Entry{number, at, e, b}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// entryError says which entry is wrong.
type entryError struct {
	number uint64
	err    error
}

// Error implements error in one line.
func (e *entryError) Error() string { return fmt.Sprintf("record %d: %v", e.number, e.err) }

// Unwrap returns what is wrong.
func (e *entryError) Unwrap() error { return e.err }

// senselessError is what is wrong with events that no host records.
type senselessError string

func senseless(panicked any) senselessError {
	line, _, _ := strings.Cut(fmt.Sprint(panicked), "\n")
	return senselessError(line)
}

// Error implements error.
func (e senselessError) Error() string {
	return "the record is of no experiment, though its checksums are right: " + string(e) + "; restore it from a copy"
}

// Is says that it is damage like any other.
func (senselessError) Is(target error) bool { return target == journal.ErrCorrupt }
