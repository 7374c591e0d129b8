package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Failure is a way in which a plugin fails.
type Failure uint8

// The ways in which a plugin fails.
const (
	// NotStarted: no such program, not executable, not a plugin, or another protocol version (B-074).
	NotStarted Failure = iota + 1
	// Refused: the plugin refused its problem or its options.
	Refused
	// Failed: a call returned an error, or the author's code panicked.
	Failed
	// Crashed: the process or the connection to it ended.
	Crashed
	// Hung: no answer within the call's deadline. The process was killed.
	Hung
	// InvalidAnswer: the answer breaks the protocol or is too large.
	InvalidAnswer
	// Unreachable: the machine that it runs on can no longer be reached. The plugin has made no mistake.
	Unreachable
)

func (f Failure) String() string {
	names := [...]string{"unknown", "not started", "refused", "failed", "crashed", "hung", "garbage", "cut off"}
	if int(f) >= len(names) {
		return names[0]
	}
	return names[f]
}

// Error is a plugin's failure. Its text is one printable line: which plugin, what happened, the last
// lines of its stderr, and the path of its log.
type Error struct {
	Plugin  string // as `searcher "tpe"`
	Failure Failure
	What    string   // "exited with status 3 in Suggest"
	Tail    []string // the last lines of its stderr, oldest first
	Log     string   // path of its log, or ""
	Err     error    // the cause, or nil
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Plugin, untrusted.Line(oneLine(e.What), untrusted.MaxText))
	if tail := e.further(); len(tail) > 0 {
		fmt.Fprintf(&b, "; its last output: %s", strings.Join(tail, " / "))
	}
	if e.Log != "" {
		fmt.Fprintf(&b, "; its log: %s", e.Log)
	}
	return b.String()
}

// further are the last lines without those that a plugin has logged of the failure itself, which What has: such a line
// ends with the message, or has little beside it.
func (e *Error) further() []string {
	_, message, ok := strings.Cut(oneLine(e.What), ": ")
	return slices.DeleteFunc(slices.Clone(e.Tail), func(line string) bool {
		before, after, repeated := strings.Cut(line, message)
		return ok && message != "" && repeated && (after == "" || len(before)+len(after) < 2*len(message))
	})
}

// ErrLate is the cause of a start that took too long.
var ErrLate = errors.New("not ready in time")

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// FailedIn says that a call failed. Calls of executors are named by what they are for: their errors are about an
// engine, and its users do not know the calls.
func FailedIn(call string) string {
	switch call {
	case "Allocate":
		return "could not ask for leases"
	case "Adopt":
		return "could not look up its leases"
	case "Release":
		return "could not give leases back"
	}
	return "failed in " + call
}

// FailureOf returns the way in which a plugin failed, if err is such an error, else 0.
func FailureOf(err error) Failure {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Failure
	}
	return 0
}

// oneLine joins the lines of an author's message.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " / ")
}
