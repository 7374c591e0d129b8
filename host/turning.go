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
	return s.engine.Step()
}

// consult has one plugin take what waits for it, if anything does: the scheduler
// first. What its answer or its failure leads to is in the inbox then.
func (s *session) consult(ctx context.Context) bool {
	if busy, _ := s.drivers.scheduling.Turn(ctx); busy { // what failed has said so
		return true
	}
	busy, _ := s.drivers.searching.Turn(ctx)
	return busy
}
