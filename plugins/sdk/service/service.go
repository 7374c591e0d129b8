// Package service answers the unary calls of the plugin protocol with an author's
// plugin, whatever carries them: gRPC (sdk/serve) or a WASM module's exported
// function (sdk/guest). One value is one process or module: it is described, opened
// once, and then called.
//
// It is for those who carry plugins, not for authors.
package service

import (
	"errors"

	"github.com/tunehost/tunehost/plugins/sdk/guard"
)

// Code is a gRPC status code, as the protocol uses them.
type Code uint32

// The codes that answers have.
const (
	InvalidArgument    Code = 3
	FailedPrecondition Code = 9
	Aborted            Code = 10
	Unimplemented      Code = 12
	Internal           Code = 13
)

// Error is every error of this package: the code tells the host whether somebody
// must change something (InvalidArgument, from Open) or the plugin is broken.
type Error struct {
	Code Code
	Text string
	// Stack is that of a panic in the author's code, for the log.
	Stack []byte
}

func (e *Error) Error() string { return e.Text }

// failure is an author's error for the host.
func failure(code Code, err error) error {
	e := &Error{Code: code, Text: err.Error()}
	if p, ok := errors.AsType[*guard.PanicError](err); ok {
		e.Code, e.Stack = Internal, p.Stack
	}
	return e
}

var errNotOpen = &Error{Code: FailedPrecondition, Text: "the plugin was not opened"}
