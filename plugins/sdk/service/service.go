// Package service answers the unary calls of the plugin protocol with an author's plugin, for any
// transport: gRPC (sdk/serve) or the exported function of a WASM module (sdk/guest). One value
// belongs to one process or module: it is described, opened once, and then called.
//
// It is for implementations of transports, not for authors.
package service

import (
	"errors"
	"sync/atomic"

	"github.com/tunehost/tunehost/plugins/sdk/guard"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Code is a gRPC status code of the protocol.
type Code uint32

// The codes of answers.
const (
	InvalidArgument    Code = 3
	FailedPrecondition Code = 9
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
)

// Error is the type of all errors of this package. The code tells the host whether the user must
// change something (InvalidArgument, from Open) or the plugin is broken.
type Error struct {
	Code Code
	Text string
	// Stack is the stack of a panic in the author's code, for the log.
	Stack []byte
}

func (e *Error) Error() string { return e.Text }

// failure returns an author's error for the host.
func failure(code Code, err error) error {
	e := &Error{Code: code, Text: err.Error()}
	if p, ok := errors.AsType[*guard.PanicError](err); ok {
		e.Code, e.Stack = Internal, p.Stack
	} else if errors.Is(err, space.ErrTight) {
		e.Code = OutOfRange // asking again would change nothing
	}
	return e
}

// opened holds the plugin once it is open. Calls may come at the same time.
type opened[P any] struct {
	atomic.Pointer[P]
}

func (o *opened[P]) get() (*P, error) {
	if p := o.Load(); p != nil {
		return p, nil
	}
	return nil, errNotOpen
}

var errNotOpen = &Error{Code: FailedPrecondition, Text: "the plugin was not opened"}
