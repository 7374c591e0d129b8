//go:build s3 || gcs || azure

package mirror

import (
	"context"
	"errors"
	"io"
	"time"
)

// patience is how long a store may take to answer, and then to send more of an object.
const patience = 30 * time.Second

// patiently opens an object, and fails where the store does not answer, or stops in the middle.
func patiently(ctx context.Context, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	return within(ctx, patience, open)
}

func within(ctx context.Context, most time.Duration, open func(context.Context) (io.ReadCloser, error)) (io.ReadCloser,
	error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &patient{ctx: ctx, cancel: cancel, most: most}
	r.timer = time.AfterFunc(most, func() { cancel(context.DeadlineExceeded) })
	var err error
	r.from, err = open(ctx)
	r.timer.Stop()
	if err != nil {
		err = r.because(err)
		r.cancel(nil)
		return nil, err
	}
	return r, nil
}

// patient is a reader that fails if nothing comes for some time.
type patient struct {
	from   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	most   time.Duration
}

func (r *patient) Read(p []byte) (int, error) {
	r.timer.Reset(r.most)
	n, err := r.from.Read(p)
	r.timer.Stop() // what is read may be used slowly
	return n, r.because(err)
}

func (r *patient) Close() error {
	r.cancel(nil)
	return r.from.Close()
}

// because returns the reason for an error: the clients' own errors say that the call was cancelled.
func (r *patient) because(err error) error {
	if err == nil || errors.Is(err, io.EOF) || r.ctx.Err() == nil {
		return err
	}
	return context.Cause(r.ctx)
}
