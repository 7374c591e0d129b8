package train

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Session runs a trainable for one host: many runs, sequential or concurrent, as its traits
// allow.
type Session struct {
	// BeforeRun, if set before the first command, is called before each run; the returned function is
	// called after it. If BeforeRun fails, the run fails to start.
	BeforeRun func(*sdk.Trial) (after func(), err error)

	trainable sdk.Trainable
	traits    sdk.TrainableTraits
	ctx       context.Context
	cancel    context.CancelFunc
	out       *Queue

	mu      sync.Mutex
	runs    map[uint64]*run
	started bool
	closed  bool
	active  sync.WaitGroup
}

// NewSession returns a session for an opened trainable.
func NewSession(t sdk.Trainable, traits sdk.TrainableTraits) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	return &Session{
		trainable: t, traits: traits, ctx: ctx, cancel: cancel,
		out: NewQueue(), runs: map[uint64]*run{},
	}
}

// ErrClosed is returned by Send after Close.
var ErrClosed = errors.New("the trainable is closed")

// Send executes commands, in order, without waiting for their effect. An error means that the host
// violated the protocol.
func (s *Session) Send(commands []Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	for i := range commands {
		if err := s.apply(&commands[i]); err != nil {
			return err
		}
	}
	return nil
}

// Recv waits for events and returns all waiting ones, in order; io.EOF after Close. The slice is
// valid until the next call.
func (s *Session) Recv() ([]Event, error) { return s.out.Drain() }

// Close cancels the context of every run. Later events are dropped.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.out.Close()
}

// Wait waits until no author's code is running; after Close, until every Train has returned.
func (s *Session) Wait() { s.active.Wait() }

// apply needs s.mu.
func (s *Session) apply(c *Command) error {
	if c.Kind == Start {
		return s.start(c)
	}
	r := s.runs[c.Run]
	if r == nil {
		return nil // the run ended before the command arrived
	}
	r.order(c)
	return nil
}

func (s *Session) start(c *Command) error {
	if c.Trial == nil {
		return fmt.Errorf("run %d was started without a trial", c.Run)
	}
	if s.runs[c.Run] != nil {
		return fmt.Errorf("run %d was started twice", c.Run)
	}
	r := newRun(s, c.Run, *c.Trial)
	r.confirms = c.Confirms
	why := s.refuses()
	again := s.started && !s.traits.Shared
	if why == "" {
		s.started = true
		s.runs[c.Run] = r
	}
	s.active.Add(1)
	go func() {
		defer s.active.Done()
		if why != "" {
			s.out.Push(Event{Kind: Ended, Run: c.Run, Error: why, NeverStarted: true})
			return
		}
		s.train(r, again)
	}()
	return nil
}

// refuses returns why no run can start now, or "".
func (s *Session) refuses() string {
	switch {
	case s.traits.Shared:
		return ""
	case len(s.runs) > 0:
		return "the process already runs a trial, and the trainable does not share it"
	case s.started && !s.traits.Reusable:
		return "the process has run a trial, and the trainable cannot be reused"
	}
	return ""
}

// train calls the author's code and sends how it ended. If a trial has run before, it resets the
// process first.
func (s *Session) train(r *run, again bool) {
	end := Event{Kind: Ended, Run: r.id, NeverStarted: true}
	if err := s.reset(r, again); err != nil {
		end.Error = cut("the process cannot be reset: " + err.Error())
	} else {
		end = s.call(r)
	}
	r.cancel()
	// Remove the run before its end is sent: the host may answer with the next Start.
	s.mu.Lock()
	delete(s.runs, r.id)
	s.mu.Unlock()
	s.out.Push(end)
}

// call calls the author's code, after BeforeRun.
func (s *Session) call(r *run) Event {
	if s.BeforeRun != nil {
		after, err := s.BeforeRun(&r.trial)
		if err != nil {
			return Event{Kind: Ended, Run: r.id, NeverStarted: true, Error: cut(err.Error())}
		}
		defer after()
	}
	return r.outcome(r.call(s.trainable))
}

// reset calls the author's Reset if it exists and is needed.
func (s *Session) reset(r *run, again bool) (err error) {
	x, ok := s.trainable.(sdk.Resetter)
	if !again || !ok {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			r.Log(fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return x.Reset(r.ctx)
}
