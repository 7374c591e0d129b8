package link

import (
	"context"
	"errors"
	"fmt"
)

// hurry bounds the waits between tries: there are few seconds.
const hurry = 3

// mend continues a session on another connection each time that the one which carries it breaks. It ends the session
// if that fails: the host does not have it any longer, or the node is taken away, so that the host may have closed
// the connection.
func (a *Agent) mend(ctx context.Context, s *session) {
	until, stop := context.WithCancel(ctx)
	defer stop()
	defer a.whenLeaving(until, stop)()
	turned := make(chan struct{}, 1)
	s.rope.watch(func() {
		select {
		case turned <- struct{}{}:
		default:
		}
	})
	for turns(ctx, turned) {
		if !s.rope.broken() {
			continue
		}
		_, why := s.rope.state()
		a.Log(fmt.Sprintf("the connection to the host broke: %v; connecting again", why))
		a.since = a.Clock.Now()
		if !a.resume(until, s) {
			_ = s.end(errNotContinued)
			return
		}
		a.Log("connected to the host again")
	}
}

// errNotContinued ends a session that could not continue on another connection.
var errNotContinued = errors.New("the host does not continue the connection")

// turns waits until a session's connection breaks or is replaced, and reports whether the session lasts.
func turns(ctx context.Context, turned <-chan struct{}) bool {
	select {
	case <-turned:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// resume connects again, and reports whether the session continues.
func (a *Agent) resume(ctx context.Context, s *session) bool {
	for failures := 1; ctx.Err() == nil; failures++ {
		s.tries++
		began := a.Clock.Now()
		conn, got, err := a.greet(ctx, greeting{Session: s.id, Received: s.rope.suspend(), Try: s.tries})
		var refused *RefusedError
		switch {
		case err == nil && got.Session == s.id:
			if s.rope.carry(conn, got.Received) == nil {
				s.conn.heardAt(began)
				return true
			}
			fallthrough
		case err == nil: // it is another host
			_ = conn.Close()
			return false
		case errors.As(err, &refused):
			return false
		}
		a.wait(ctx, min(failures, hurry))
	}
	return false
}
