package inproc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
)

// life says whether a plugin can still be called. After a hanging call it cannot: its code may still
// be running.
type life struct {
	name   string
	mu     sync.Mutex
	dead   error
	opened bool
	direct bool // calls are not given up
}

// end makes later calls fail with err; the first end counts, except that a call may hang after Close.
func (l *life) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead == nil || errors.Is(l.dead, errClosed) {
		l.dead = err
	}
}

func (l *life) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// hangs reports whether a call was given up. It returns false if the plugin was only closed, because its
// searcher or scheduler must still be closed, and either may be closed first.
func (l *life) hangs() bool {
	err := l.err()
	return err != nil && !errors.Is(err, errClosed)
}

func (l *life) failure(f plugin.Failure, what string, cause error) *plugin.Error {
	return &plugin.Error{Plugin: l.name, Failure: f, What: what, Err: cause}
}

// open calls an author's Open, once.
func (l *life) open(ctx context.Context, f func() error) error {
	l.mu.Lock()
	again := l.opened
	l.opened = true
	l.mu.Unlock()
	if again {
		return l.failure(plugin.Failed, "was opened twice", nil)
	}
	_, err := call(ctx, l, "Open", func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// call calls the author's code and gives up when the context ends.
func call[T any](ctx context.Context, l *life, name string, f func() (T, error)) (T, error) {
	var zero T
	if err := l.err(); err != nil {
		return zero, l.failure(plugin.Crashed, "cannot be called: "+err.Error(), err)
	}
	if l.direct || ctx.Done() == nil { // there is no deadline
		v, err := f()
		return v, l.answered(name, err)
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, l.answered(name, r.err)
	case <-ctx.Done():
		l.end(fmt.Errorf("it never answered %s", name))
		return zero, l.late(ctx, name)
	}
}

func (l *life) late(ctx context.Context, name string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return l.failure(plugin.Hung, fmt.Sprintf("did not answer %s%s", name, deadlines.For(ctx)), ctx.Err())
}

// answered names the kind of failure of an author's error.
func (l *life) answered(name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*guard.PanicError](err); ok {
		return l.failure(plugin.Failed, fmt.Sprintf("%s: %v", plugin.FailedIn(name), err), err)
	}
	if name == "Open" {
		return l.failure(plugin.Refused, "refused: "+err.Error(), err)
	}
	return l.failure(plugin.Failed, fmt.Sprintf("%s: %v", plugin.FailedIn(name), err), err)
}
