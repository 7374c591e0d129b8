// Package usererror marks mistakes that the user can correct: the command reports them
// with exit status 2.
package usererror

import "fmt"

// Error is a mistake that the user can correct.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf formats an Error as fmt.Errorf does.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Wrap marks err as the user's mistake; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err}
}
