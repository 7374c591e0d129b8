package host

import "context"

// Some turn the host in one goroutine: ask and tell, Simulate, a Rig. For them
// there is a step of the loop, and a word of each plugin.

// step records and applies what is in the inbox, if anything is.
func (s *session) step() (busy bool, err error) {
	select {
	case err := <-s.failure:
		return false, err
	default:
	}
	batch := s.inbox.Take(s.loop.spare)
	if len(batch) == 0 {
		return false, nil
	}
	if err := s.loop.stepAll(batch); err != nil {
		return false, err
	}
	s.loop.spare = batch
	return true, nil
}

// consult has one plugin take what waits for it, if anything does: the scheduler
// first. What its answer or its failure leads to is in the inbox then.
func (s *session) consult(ctx context.Context) bool {
	return s.crew.scheduling.poll(ctx) || s.crew.searching.poll(ctx)
}

// poll is one turn of run, without the wait.
func (s *scheduling) poll(ctx context.Context) bool {
	items := s.work.Poll()
	if len(items) == 0 {
		return false
	}
	_ = s.take(ctx, items) // it has said so
	return true
}

// poll is one turn of run, without the wait.
func (s *searching) poll(ctx context.Context) bool {
	items := s.work.Poll()
	if len(items) == 0 {
		return false
	}
	_ = s.handle(ctx, items) // it has said so
	return true
}
