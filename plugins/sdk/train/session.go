package train

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Session runs a trainable for one host: many runs, one after the other or at
// a time, as its traits allow.
type Session struct {
	// Around, if set before the first command, is called before each run, and what it
	// returns when that has ended. Where it fails, the run cannot begin.
	Around func(*sdk.Trial) (after func(), err error)

	trainable sdk.Trainable
	traits    sdk.TrainableTraits
	ctx       context.Context
	cancel    context.CancelFunc
	out       *queue

	mu      sync.Mutex
	runs    map[uint64]*run
	started bool
	closed  bool
	active  sync.WaitGroup
}

// NewSession makes a session for an opened trainable.
func NewSession(t sdk.Trainable, traits sdk.TrainableTraits) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	return &Session{
		trainable: t, traits: traits, ctx: ctx, cancel: cancel,
		out: newQueue(), runs: map[uint64]*run{},
	}
}

// ErrClosed is what Send answers after Close.
var ErrClosed = errors.New("the trainable is closed")

// Send carries out commands, in order, without waiting for their effect. An
// error means that the host broke the protocol.
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

// Recv waits for events and returns all that wait, in order; io.EOF after
// Close. The slice is valid until the next call.
func (s *Session) Recv() ([]Event, error) { return s.out.drain() }

// Close ends the context of every run. Events that come later are dropped.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.out.close()
}

// Wait returns when no author's code runs any more, which after Close is when
// every Train has returned.
func (s *Session) Wait() { s.active.Wait() }

// apply needs s.mu.
func (s *Session) apply(c *Command) error {
	if c.Kind == Start {
		return s.start(c)
	}
	r := s.runs[c.Run]
	if r == nil {
		return nil // it ended while the command was on its way
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
			s.out.push(Event{Kind: Ended, Run: c.Run, Error: why, NeverStarted: true})
			return
		}
		s.train(r, again)
	}()
	return nil
}

// refuses says why no run can be started now, or "".
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

// train calls the author's code and says how it ended. Where a trial has run
// before, it begins once that is cleaned up.
func (s *Session) train(r *run, again bool) {
	end := Event{Kind: Ended, Run: r.id, NeverStarted: true}
	if err := s.reset(r, again); err != nil {
		end.Error = cut("the process cannot be reset: " + err.Error())
	} else {
		end = s.call(r)
	}
	r.cancel()
	// The run is forgotten before its end is told: the host may answer that
	// with the next Start.
	s.mu.Lock()
	delete(s.runs, r.id)
	s.mu.Unlock()
	s.out.push(end)
}

// call calls the author's code, and what is around it.
func (s *Session) call(r *run) Event {
	if s.Around != nil {
		after, err := s.Around(&r.trial)
		if err != nil {
			return Event{Kind: Ended, Run: r.id, NeverStarted: true, Error: cut(err.Error())}
		}
		defer after()
	}
	return r.outcome(r.call(s.trainable))
}

// reset calls the author's Reset, where there is one and it is needed.
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
