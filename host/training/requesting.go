package training

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/plugin"
)

// Requesting asks a trainable what each trial needs (B-038). It has a process of
// its own, which trains nothing: what a trial does to its process must not keep
// the next one from being made. A nil Requesting leaves requests to the file.
type Requesting struct {
	name   string
	open   func(context.Context) (plugin.Trainer, error)
	limit  time.Duration   // of one call
	ctx    context.Context // until it is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	trainer plugin.Trainer
}

// NewRequesting takes over an opened trainable. It opens another where that one is
// gone; each of its calls may take until limit.
func NewRequesting(name string, t plugin.Trainer, open func(context.Context) (plugin.Trainer, error), limit time.Duration) *Requesting {
	r := &Requesting{name: name, open: open, limit: limit, trainer: t}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Fill sets a suggestion's request.
func (r *Requesting) Fill(g *core.Suggestion) error {
	if r == nil {
		return nil
	}
	text, err := r.ask(g.Params)
	if err == nil {
		if g.Request, err = demand.Parse(text); err != nil {
			err = fmt.Errorf("trainable %q answered %w", r.name, err)
		}
	}
	if err != nil {
		return fmt.Errorf("what a trial with %s needs cannot be known: %w", g.Params, err)
	}
	return nil
}

// ask tries once more when the process is gone.
func (r *Requesting) ask(params []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := r.call(params)
	if f := plugin.FailureOf(err); r.ctx.Err() != nil || f != plugin.Crashed && f != plugin.Hung {
		return text, err
	}
	t, failed := r.open(r.ctx)
	if failed != nil {
		return nil, failed
	}
	_ = r.trainer.Close()
	r.trainer = t
	return r.call(params)
}

func (r *Requesting) call(params []byte) ([]byte, error) {
	ctx, cancel := deadlines.Within(r.ctx, r.limit)
	defer cancel()
	return r.trainer.Request(ctx, params)
}

// Close ends its process.
func (r *Requesting) Close() {
	if r == nil {
		return
	}
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.trainer.Close()
}
