package steer

import (
	"encoding/json"

	"github.com/tunehost/tunehost/core"
)

// Handler carries out requests: [Live] requests to an experiment that a host in this process
// runs, [Resting] requests to an experiment without a host, and the client of a transport requests to a host
// in another process. Do may be called by several goroutines. It returns once the resulting event
// is on its way into the record; trials end later. Errors are for the user, in one line.
type Handler interface {
	Do(Request) (Answer, error)
}

// Timely is a [Handler] of requests that somebody may give up.
type Timely interface {
	Handler
	// While returns the handler of a request that is only carried out as long as open returns true.
	While(open func() bool) Handler
}

// Request is a request to an experiment: a value of one of the types below.
// A trial is named by its number or its id.
type Request interface {
	// verb returns the name of the request, for users and for the transport.
	verb() string
}

// Stop ends a trial, or with "" the experiment; it cannot be resumed.
type Stop struct {
	Trial string `json:"trial,omitempty"`
}

// Interrupt ends the host; the experiment can be resumed later.
type Interrupt struct{}

// Pause pauses a trial, or with "" all trials. If progress would be lost, it does
// nothing and returns a [LossError], unless Force is set.
type Pause struct {
	Trial string `json:"trial,omitempty"`
	Force bool   `json:"force,omitempty"`
}

// Unpause resumes a paused trial, or with "" all of them.
type Unpause struct {
	Trial string `json:"trial,omitempty"`
}

// Retry runs a trial in ERROR again: from its last checkpoint, or with Fresh from the
// beginning in a new directory (B-082).
type Retry struct {
	Trial string `json:"trial"`
	Fresh bool   `json:"fresh,omitempty"`
}

// Add adds a trial with these parameters, a complete or partial JSON object (B-007). With Clone, a
// trial, it has the parameters of that trial except those given, and starts from its newest
// checkpoint.
type Add struct {
	Params json.RawMessage `json:"params"`
	Clone  string          `json:"clone,omitempty"`
}

// Set changes settings of the experiment, each a KEY=VALUE as for the flag --set (B-083).
// Either all of them change or none.
type Set struct {
	Settings []string `json:"settings"`
}

func (Stop) verb() string      { return "stop" }
func (Interrupt) verb() string { return "interrupt" }
func (Pause) verb() string     { return "pause" }
func (Unpause) verb() string   { return "unpause" }
func (Retry) verb() string     { return "retry" }
func (Add) verb() string       { return "add" }
func (Set) verb() string       { return "set" }

// Answer is the result of a request.
type Answer struct {
	// Trial is the added trial; the first one if the suggestion has several runs.
	Trial *core.TrialNo `json:"trial,omitempty"`
	// Changed lists the changed settings.
	Changed []Change `json:"changed,omitempty"`
	// Later says that no host runs, so the settings take effect with the next host.
	Later bool `json:"later,omitempty"`
	// Warnings are about settings that are valid but probably not intended, or count something else than it seems.
	Warnings []string `json:"warnings,omitempty"`
}

// BusyError says that a host has not taken a request, of which nothing was carried out: the same request may work a
// moment later.
type BusyError struct{ What string }

func (e *BusyError) Error() string { return e.What }

// UnknownError says that it is not known whether a request was carried out. It will not be carried out later.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return e.What }

// ErrGivenUp refuses a request for which nobody waits any more.
var ErrGivenUp error = &BusyError{What: "who asked for this has given it up: it is not carried out any more"}

// Change is a changed setting. Old and New are JSON; empty: the file does
// not have it.
type Change struct {
	Key string          `json:"key"`
	Old json.RawMessage `json:"old,omitempty"`
	New json.RawMessage `json:"new,omitempty"`
}

// LossError is returned for a request that was not carried out because progress would be lost.
type LossError struct{ What string }

// Error implements error.
func (e *LossError) Error() string { return e.What }
