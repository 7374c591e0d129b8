package history

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
)

// Entry is one event of a record.
type Entry struct {
	// Number is its place, from 1.
	Number uint64
	// At is the experiment's running time, in nanoseconds.
	At int64
	// Event belongs to the History's machine.
	Event core.Event
	// Bytes are the event as it was recorded, valid during the call only.
	Bytes []byte
}

// Step is an entry that was applied. It is valid during the call only.
type Step struct {
	Entry
	// Machine is the experiment as it is after the event: look, and apply nothing.
	Machine *core.Machine
	// Actions are what follows from the event, in order.
	Actions []core.Action
}

// Observations are those of the Step's actions that somebody of the audience hears of, in order.
func (s *Step) Observations(to core.Audience) iter.Seq[core.Observation] {
	return func(yield func(core.Observation) bool) {
		for _, a := range s.Actions {
			if t, ok := a.(core.Tell); ok && t.Observation.To&to != 0 && !yield(t.Observation) {
				return
			}
		}
	}
}

// Visitor is who goes through a record. Either function may be nil.
type Visitor struct {
	// Before is called with each entry before it is applied: the machine is as the event found it. Where it returns
	// an error the entry is not applied, and comes again with the next call.
	Before func(Entry) error
	// After is called with each entry right after it was applied.
	After func(*Step) error
}

// ErrStop, returned by a Visitor's function, ends [History.Each] and [History.Visit] without an error.
var ErrStop = errors.New("no further")

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
