package attempt

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
)

// Requesting asks a trainable what each trial needs (B-038). It has its own process, in which
// nothing is trained, so that a broken trial cannot block the next request. With a nil
// Requesting, requests are those of the file.
type Requesting struct {
	name   string
	open   func(context.Context) (plugin.Trainer, error)
	limit  time.Duration   // of one call
	ctx    context.Context // until it is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	trainer plugin.Trainer
}

// NewRequesting takes over an opened trainable, and opens another if that one fails. Limit
// bounds each call.
func NewRequesting(name string, t plugin.Trainer, open func(context.Context) (plugin.Trainer, error),
	limit time.Duration) *Requesting {
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
		if g.Request, err = request.Parse(text); err != nil {
			err = fmt.Errorf("trainable %q answered %w", r.name, err)
		}
	}
	if err != nil {
		return fmt.Errorf("the resources for a trial with %s are not known: %w", g.Params, err)
	}
	return nil
}

// ask asks the trainable, and once more in a new process if the first one fails.
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
