package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// requesting asks a trainable what each trial needs (B-038). It has a process of
// its own, which trains nothing: what a trial does to its process must not keep
// the next one from being made. A nil requesting leaves requests to the file.
type requesting struct {
	name   string
	open   func(context.Context) (plugin.Trainer, error)
	limit  time.Duration   // of one call
	ctx    context.Context // until it is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	trainer plugin.Trainer
}

// newRequesting takes over an opened trainable. A file that asks for resources
// beside it is in conflict with it.
func newRequesting(e *config.Experiment, o *opener, t plugin.Trainer) (*requesting, error) {
	ref, _, err := o.trainableRef()
	if err != nil {
		return nil, err
	}
	if e.Requested != nil {
		return nil, &UserError{&config.Error{Pos: *e.Requested, Msg: fmt.Sprintf(
			"the trainable %q (%s) computes by itself what each trial needs, and here the file says it, too: take this out", ref.Name, ref.Pos)}}
	}
	open := func(ctx context.Context) (plugin.Trainer, error) { return o.trainable(ctx, nil) }
	limit, _ := o.deadlines(sdk.KindTrainable, ref)
	r := &requesting{name: ref.Name, open: open, limit: limit, trainer: t}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// fill sets a suggestion's request.
func (r *requesting) fill(g *core.Suggestion) error {
	if r == nil {
		return nil
	}
	text, err := r.ask(g.Params)
	if err == nil {
		if g.Request, err = parseRequest(text); err != nil {
			err = fmt.Errorf("trainable %q answered %w", r.name, err)
		}
	}
	if err != nil {
		return fmt.Errorf("what a trial with %s needs cannot be known: %w", g.Params, err)
	}
	return nil
}

// ask tries once more when the process is gone.
func (r *requesting) ask(params []byte) ([]byte, error) {
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

func (r *requesting) call(params []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.limit)
	defer cancel()
	return r.trainer.Request(ctx, params)
}

func (r *requesting) close() {
	if r == nil {
		return
	}
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.trainer.Close()
}
