package host

import (
	"context"
	"errors"
	"io"

	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/config"
)

// inNoStorage is the storage of experiments that are not kept.
const inNoStorage = "none"

func (o *Options) inMemory() bool { return o.manual && o.Storage == inNoStorage }

// AskTell runs an experiment whose trials the caller trains: it answers the
// requests that it reads from r, one a line, on w, until r ends (package asktell
// has the protocol). With "-" for Options.File the first line is the experiment,
// as JSON. It is kept, and gone on with, as by Run, unless Options.Storage is
// "none".
//
// The answers depend on the file, its seed and the requests in their order alone:
// everything that a request leads to is done before it is answered, one thing at
// a time. Only limits of time look at the clock, the caller's where it tells one.
//
// When the context ends before r does, the experiment is saved, and the error is
// the context's.
func AskTell(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	in := asktell.Read(r)
	defer in.Close()
	o.manual = true
	if o.File == "-" {
		var err error
		if o.File, o.source, err = firstLine(ctx, in); err != nil {
			return err
		}
	}
	o.opening = ctx
	e, err := load(o)
	if err != nil {
		return err
	}
	m := newManual()
	o.composed.ports = m.ports
	s, err := o.manualSession(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	return m.converse(ctx, in, w)
}

// firstLine reads the experiment; messages speak of it by the name.
func firstLine(ctx context.Context, in *asktell.Input) (name string, source []byte, err error) {
	source, err = in.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		err = userError("there is no experiment: with -, the first line is one, as JSON")
	case errors.Is(err, asktell.ErrLong):
		err = userError("the experiment in the first line: %w", err)
	}
	return "stdin", source, err
}

func (o Options) manualSession(ctx context.Context, e *config.Experiment) (*session, error) {
	if !o.inMemory() {
		return ready(ctx, o, e)
	}
	o.opening = ctx
	s := newSession(o, e)
	s.float()
	return s.after(s.create)
}

// converse answers requests. However it ends, nothing is left in the caller's
// hands afterwards.
func (m *manual) converse(ctx context.Context, in *asktell.Input, w io.Writer) error {
	m.publishAll()
	err := asktell.Serve(ctx, in, w, m)
	if broken := m.leave(); broken != nil {
		return broken
	}
	m.publishRest()
	return errors.Join(err, m.step())
}
