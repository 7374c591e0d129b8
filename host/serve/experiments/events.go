package experiments

import (
	"context"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/view"
)

// following is how often a followed experiment is read.
const following = 200 * time.Millisecond

// watching counts those who follow an experiment: one goroutine reads for all of them.
type watching struct {
	guard    sync.Mutex
	watchers int
	stop     context.CancelFunc
	// looked is closed at the next look, and failed is what that found.
	looked chan struct{}
	failed error
}

// Watch has the experiment read again and again, once for all who watch it, until done is called.
func (s *Shared) Watch() (done func()) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.watchers++; s.watchers == 1 {
		ctx, stop := context.WithCancel(context.Background())
		s.stop, s.looked = stop, make(chan struct{})
		go s.look(ctx, s.looked)
	}
	return func() {
		s.guard.Lock()
		defer s.guard.Unlock()
		if s.watchers--; s.watchers == 0 {
			s.stop()
		}
	}
}

// look looks until nobody watches any more. Another look may have begun by then.
func (s *Shared) look(ctx context.Context, looked chan struct{}) {
	ticks := time.NewTicker(following)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			err := s.refresh(now)
			next := make(chan struct{})
			s.guard.Lock()
			if s.looked == looked {
				s.looked, s.failed = next, err
			}
			s.guard.Unlock()
			close(looked)
			looked = next
		}
	}
}

// next returns what is closed at the next look, and the error of the last one.
func (s *Shared) next() (<-chan struct{}, error) {
	s.guard.Lock()
	defer s.guard.Unlock()
	return s.looked, s.failed
}

func (s *Shared) feed() *view.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record.Feed()
}

// eventLog reads the record from its beginning.
func (s *Shared) eventLog() (*view.EventLog, error) {
	h, err := s.Past()
	if err != nil {
		return nil, err
	}
	return view.NewEventLog(s.Facts, h), nil
}

// Events calls f with the events after a number, some of them at a time, until the context ends, f returns
// an error, or no host runs the experiment and all is told. A negative number means those from now on. It
// calls f without events now and then, so that f notices when its reader is gone. All readers share the feed of what
// is new, and a few readers of what is old.
func (s *Shared) Events(ctx context.Context, after int64, f func([]view.Event) error) error {
	defer s.Watch()()
	from := uint64(max(after, 0))
	if feed := s.feed(); after < 0 && feed != nil {
		from = feed.Last()
	}
	r := &rider{after: from}
	defer s.tours.leave(r)
	for {
		over := !s.Running() // asked first: everything is told at the end
		list, all, err := s.after(ctx, r)
		if err != nil {
			return err
		}
		if err := f(list); err != nil {
			return err
		}
		if over && all {
			return nil
		}
		if len(list) > 0 {
			continue
		}
		if err := s.wait(ctx, r); err != nil {
			return err
		}
	}
}

// after returns some of the events that a reader does not have, and whether there are no more now.
func (s *Shared) after(ctx context.Context, r *rider) (list []view.Event, all bool, err error) {
	feed := s.feed()
	if feed == nil {
		return nil, true, nil // there is no record yet
	}
	list, through := feed.Since(r.after)
	if through == 0 {
		s.tours.leave(r)
		if len(list) > 0 {
			r.after = list[len(list)-1].Number
		}
		return list, len(list) == 0, nil
	}
	list, err = s.tours.next(ctx, r, through)
	return list, false, err
}

// wait waits until there may be more events.
func (s *Shared) wait(ctx context.Context, r *rider) error {
	looked, err := s.next()
	if err != nil {
		return err
	}
	var more <-chan struct{}
	if feed := s.feed(); feed != nil && !r.waits {
		more = feed.Changed(r.after)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-more:
	case <-looked:
	}
	return nil
}
