package history

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
)

// An Entry is one event of a record.
type Entry struct {
	// Number is the position of the event, from 1.
	Number uint64
	// At is the experiment's running time, in nanoseconds.
	At int64
	// Event is shared with the History's machine; with [History.Reuse] it is valid during the call only. What it has as
	// bytes, such as Params and Values, always is: it is in Bytes.
	Event core.Event
	// Bytes is the recorded event, valid during the call only.
	Bytes []byte
}

// A Step is an applied entry. It is valid during the call only.
type Step struct {
	Entry
	// Machine is the experiment after the event. Do not apply anything to it.
	Machine *core.Machine
	// Actions are the results of the event, in order.
	Actions []core.Action
}

// Observations returns the Step's observations for the given audience, in order.
func (s *Step) Observations(to core.Audience) iter.Seq[core.Observation] {
	return func(yield func(core.Observation) bool) {
		for _, a := range s.Actions {
			if t, ok := a.(*core.Tell); ok && t.Observation.To&to != 0 && !yield(t.Observation) {
				return
			}
		}
	}
}

// A Visitor is called for each entry of a record. Either function may be nil.
type Visitor struct {
	// Before is called with each entry before it is applied. If it returns an error, the entry is
	// not applied, and the next call passes it again.
	Before func(Entry) error
	// After is called with each entry after it is applied.
	After func(*Step) error
}

// ErrStop, returned by a Visitor's function, ends [History.Each] and [History.Visit] without an error.
var ErrStop = errors.New("no further")

// entryError adds the number of the entry to an error.
type entryError struct {
	number uint64
	err    error
}

// Error implements error in one line.
func (e *entryError) Error() string { return fmt.Sprintf("record %d: %v", e.number, e.err) }

// Unwrap returns the cause.
func (e *entryError) Unwrap() error { return e.err }

// senselessError describes an event that no host records.
type senselessError string

func senseless(panicked any) senselessError {
	line, _, _ := strings.Cut(fmt.Sprint(panicked), "\n")
	return senselessError(line)
}

// Error implements error.
func (e senselessError) Error() string {
	return "the record describes no experiment, though its checksums are valid: " +
		string(e) + "; restore it from a copy"
}

// Is reports that the error counts as damage.
func (senselessError) Is(target error) bool { return target == journal.ErrCorrupt }
