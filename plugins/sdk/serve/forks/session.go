//go:build linux

package forks

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// A session has the trials of the program, each in a fork of it.
type session struct {
	program *program
	out     *train.Queue

	mu     sync.Mutex
	runs   map[uint64]*run
	closed bool
}

// Send implements serve.Runs.
func (s *session) Send(commands []train.Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range commands {
		if s.closed {
			return train.ErrClosed
		}
		if err := s.apply(&commands[i]); err != nil {
			return err
		}
	}
	return nil
}

// apply needs s.mu.
func (s *session) apply(c *train.Command) error {
	if c.Kind == train.Start {
		return s.start(c)
	}
	r := s.runs[c.Run]
	switch {
	case r == nil: // it ended before the command arrived
	case c.Kind == train.Kill:
		r.kill()
	default:
		r.send(orderMessage{c.Kind, c.Credits, c.Dir, c.Paused})
		if c.Kind == train.Stop { // the next report may be far away
			_ = s.program.send(nil, "stop", c.Run)
		}
	}
	return nil
}

// start needs s.mu.
func (s *session) start(c *train.Command) error {
	if c.Trial == nil {
		return fmt.Errorf("run %d was started without a trial", c.Run)
	}
	if s.runs[c.Run] != nil {
		return fmt.Errorf("run %d was started twice", c.Run)
	}
	conn, theirs, err := pair()
	if err != nil { // no more files: that is this run's end alone
		s.out.Push(train.Event{Kind: train.Ended, Run: c.Run, Error: fmt.Sprintf("cannot start: %v", err),
			NeverStarted: true})
		return nil
	}
	defer theirs.Close()
	r := &run{id: c.Run, session: s, conn: conn, exit: make(chan func(), 1)}
	r.stderr = filepath.Join(c.Trial.Dir, "stderr")
	r.from = size(r.stderr)
	s.runs[c.Run] = r
	_ = s.program.send(theirs, "fork", c.Run) // if the program is gone, so is this process soon
	r.send(startMessage{messageOf(c.Trial), c.Confirms})
	go r.follow()
	return nil
}

// Recv implements serve.Runs.
func (s *session) Recv() ([]train.Event, error) { return s.out.Drain() }

// Close implements serve.Runs: it kills every trial.
func (s *session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, r := range s.runs {
		r.kill()
	}
	s.out.Close()
}

func (s *session) run(id uint64) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[id]
}

// remove comes before the run's end is sent: the host may answer with the next Start.
func (s *session) remove(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

func (s *session) forked(id uint64, pid int) {
	if r := s.run(id); r != nil {
		r.pid.Store(int32(pid))
	}
}

func (s *session) unforked(id uint64, why string) {
	if r := s.run(id); r != nil {
		r.over(func() { r.end(train.Event{Kind: train.Ended, Error: why, NeverStarted: true}) })
	}
}

func (s *session) exited(id uint64, status int) {
	if r := s.run(id); r != nil {
		r.over(func() { r.died(status) })
	}
}
