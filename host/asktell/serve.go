package asktell

import (
	"context"
	"errors"
	"io"
)

// Handler is the experiment.
type Handler interface {
	// Handle answers one request at a time. An error is told to the caller,
	// and the session continues, unless it is a [Fatal].
	Handle(ctx context.Context, r Request) (Answer, error)
}

// Fatal ends the session: the experiment is beyond help.
type Fatal struct{ Err error }

func (f *Fatal) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fatal) Unwrap() error { return f.Err }

// Serve answers requests until the caller ends its input. The error is the
// context's, that of reading or writing, or a [Fatal] of the handler, which the
// caller was told.
func Serve(ctx context.Context, in *Input, w io.Writer, h Handler) error {
	var out []byte
	for {
		text, err := in.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errLong {
			return err
		}
		answer, err := handle(ctx, text, err, h)
		out = append(answer.append(out[:0]), '\n')
		if _, failed := w.Write(out); failed != nil {
			return failed
		}
		if fatal, ok := errors.AsType[*Fatal](err); ok {
			return fatal
		}
	}
}

func handle(ctx context.Context, text []byte, err error, h Handler) (a Answer, _ error) {
	var r Request
	if err == nil {
		r, err = Parse(text)
	}
	if err == nil {
		a, err = h.Handle(ctx, r)
	}
	if err != nil {
		return problem{err}, err
	}
	return a, nil
}
