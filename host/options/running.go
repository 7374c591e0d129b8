package options

import (
	"context"
	"iter"

	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// Running is an experiment that a host in this process runs. Once its trials have ended, requests
// to it are errors; [view.Open] reads its directory.
type Running struct {
	// View shows its status, trials and results.
	View *view.Experiment
	// Steer carries out requests, as the commands stop, pause, add and set do.
	Steer steer.Handler
	// Done is closed when the experiment has ended and all its files are written.
	Done <-chan struct{}

	feed *view.Feed
}

// NewRunning returns a Running whose events are published to feed.
func NewRunning(x *view.Experiment, h steer.Handler, done <-chan struct{}, feed *view.Feed) *Running {
	return &Running{View: x, Steer: h, Done: done, feed: feed}
}

// Events yields all events from the beginning of the experiment, each once it is safe in the
// record. The sequence ends with the experiment. An error is that of the context or of reading the record,
// and ends the sequence. The experiment does not wait for the caller.
func (r *Running) Events(ctx context.Context) iter.Seq2[view.Event, error] {
	return func(yield func(view.Event, error) bool) {
		events := r.View.Follow(0, r.feed)
		defer events.Close()
		for last := false; ; {
			changed := r.feed.Changed(events.After())
			list, err := events.Next(ctx)
			for i := range list {
				if !yield(list[i], nil) {
					return
				}
			}
			switch {
			case err != nil:
				yield(view.Event{}, err)
				return
			case len(list) == 0 && last:
				return
			case len(list) > 0:
				continue
			}
			if last, err = r.wait(ctx, changed); err != nil {
				yield(view.Event{}, err)
				return
			}
		}
	}
}

// wait waits until there may be more events, and reports whether those are the last.
func (r *Running) wait(ctx context.Context, changed <-chan struct{}) (last bool, err error) {
	select {
	case <-r.Done:
		return true, nil
	default:
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-r.Done:
		return true, nil
	case <-changed:
		return false, nil
	}
}
