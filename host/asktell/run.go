package asktell

import (
	"context"
	"errors"
	"io"

	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/usererror"
)

// Run runs an experiment whose trials the caller trains: it answers the requests that it reads
// from r, one per line, on w, until r ends. With "-" for Options.File the first line is the
// experiment, as JSON. It is stored and resumed like by host.Run, unless Options.Storage is "none".
//
// The answers depend only on the file, its seed and the requests in their order:
// everything that a request causes is done before it is answered, one step at
// a time. Only time limits read the clock, or the caller's time if a request has one.
//
// When the context ends before r does, the experiment is saved, and the error is
// the context's.
func Run(ctx context.Context, r io.Reader, w io.Writer, o options.Options) error {
	in := Read(r)
	defer in.Close()
	o.Mode.Manual = true
	if o.File == "-" {
		var err error
		if o.File, o.Mode.Source, err = firstLine(ctx, in); err != nil {
			return err
		}
	}
	e, err := prepare.Load(ctx, &o)
	if err != nil {
		return err
	}
	p, err := prepare.Loaded(ctx, &o, e)
	if err != nil {
		return err
	}
	m := newManual()
	s, err := compose.Begin(ctx, p, o, compose.How{Ports: m.ports})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	o.Await("")
	return m.converse(ctx, in, w)
}

// firstLine reads the experiment; name is its name in messages.
func firstLine(ctx context.Context, in *Input) (name string, source []byte, err error) {
	for source, err = in.Next(ctx); err == nil && isEmpty(source); {
		source, err = in.Next(ctx)
	}
	switch {
	case errors.Is(err, io.EOF):
		err = usererror.Errorf("there is no experiment: with -, the first line is one, as JSON")
	case errors.Is(err, errLong):
		err = usererror.Errorf("the experiment in the first line: %w", err)
	}
	return "stdin", source, err
}

// converse answers requests. However it ends, the caller has no trial afterwards.
func (m *manual) converse(ctx context.Context, in *Input, w io.Writer) error {
	m.Publish()
	err := Serve(ctx, in, w, m)
	if broken := m.close(); broken != nil {
		return broken
	}
	m.Drivers.PublishRest()
	return errors.Join(err, m.step())
}
