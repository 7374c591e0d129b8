package link

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
)

// redeem makes a certificate of a token.
func (h *Hub) redeem(q request, key any, keyDigest string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.knows(q) { // first of all, so that strangers do not learn which leases there are
		return nil, fmt.Errorf("the lease %s has ended or was requested again, or the token is wrong", named(q.Lease))
	}
	l, err := h.find(identity{q.Lease, q.Epoch, q.Bundle})
	if err != nil {
		return nil, err
	}
	// The same agent may ask again, if the answer was lost: nobody else has its key.
	if used := l.keys[q.Bundle]; l.Joined[q.Bundle] || used != "" && used != keyDigest {
		return nil, fmt.Errorf("the token has been used for bundle %d", q.Bundle)
	}
	l.keys[q.Bundle] = keyDigest
	return h.authority.agents(key, identity{q.Lease, q.Epoch, q.Bundle})
}

// knows reports whether the token of a request is that of its lease; h.mu is held.
func (h *Hub) knows(q request) bool {
	l := h.leases[q.Lease]
	if l == nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(digest([]byte(q.Token))), []byte(l.Token)) == 1
}

// named returns the name of a lease for a message. A stranger may send any text.
func named(lease string) string {
	if validLease(lease) {
		return lease
	}
	return "of this agent"
}

// find returns the lease of an agent; h.mu is held.
func (h *Hub) find(who identity) (*lease, error) {
	l := h.leases[who.lease]
	switch {
	case l == nil:
		return nil, fmt.Errorf("the lease %s has ended", who.lease)
	case who.epoch != l.Epoch:
		return nil, fmt.Errorf("the lease %s was requested again: this agent is of an earlier request", who.lease)
	case who.bundle < 0 || who.bundle >= l.Bundles:
		return nil, fmt.Errorf("the lease %s has no bundle %d: its bundles are 0 to %d", who.lease, who.bundle,
			l.Bundles-1)
	}
	return l, nil
}

// admit takes the session of an agent.
func (h *Hub) admit(who identity, s *session) error {
	h.mu.Lock()
	l, err := h.find(who)
	if err != nil {
		h.mu.Unlock()
		return err
	}
	a := &l.agents[who.bundle]
	if old := a.session; old != nil { // the agent has noticed its end earlier
		h.mu.Unlock()
		_ = old.end(&givenUpError{s.before, old.rope.trouble()})
		if h.ended(who, old) {
			return fmt.Errorf("the lease %s has ended: the connection broke while it was used", who.lease)
		}
		return h.admit(who, s)
	}
	kind := Connected
	if a.known {
		kind = Back
	}
	if a.suspect != nil {
		a.suspect()
		a.suspect = nil
	}
	a.session, a.known = s, true
	close(a.joined)
	h.join(who, l)
	h.mu.Unlock()
	h.Notify(Event{Lease: who.lease, Bundle: who.bundle, Kind: kind})
	h.attend(who, s)
	return nil
}

// attend tells of what happens to a session. It needs no goroutine while nothing does: a host has thousands of
// sessions.
func (h *Hub) attend(who identity, s *session) {
	context.AfterFunc(s.tale.announced, s.tale.telling(func() {
		h.Notify(Event{Lease: who.lease, Bundle: who.bundle, Kind: Leaving})
	}))
	s.rope.watch(s.tale.telling(func() { h.turned(who, s) }))
	context.AfterFunc(s.context, s.tale.telling(func() {
		s.tale.over = true
		h.ended(who, s)
	}))
}

// A tale is what is told of a session, in order.
type tale struct {
	// announced ends when the agent has announced that its node is taken away; notice ends it.
	announced context.Context
	notice    context.CancelFunc

	mu    sync.Mutex
	turns int  // that were told of
	over  bool // its end was told
}

// telling is f, one at a time, until the end is told.
func (t *tale) telling(f func()) func() {
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.over {
			f()
		}
	}
}

// turned tells of breaks of a session's connection, and of those that replaced it.
func (h *Hub) turned(who identity, s *session) {
	now, why := s.rope.state()
	for ; s.tale.turns < now; s.tale.turns++ {
		if s.tale.turns%2 == 1 {
			h.Notify(Event{Lease: who.lease, Bundle: who.bundle, Kind: Resumed})
		} else {
			h.Notify(Event{who.lease, who.bundle, Suspect, why.Error()})
		}
	}
}

// join records that the token of an agent was used. h.mu is held.
func (h *Hub) join(who identity, l *lease) {
	if l.Joined[who.bundle] {
		return
	}
	if l.Joined == nil {
		l.Joined = map[int]bool{}
	}
	l.Joined[who.bundle] = true
	if err := h.state.setLease(who.lease, &l.expected); err != nil {
		h.Log.Warn(fmt.Sprintf("lease %s: %v", who.lease, err))
	}
}

// ended records the end of a session. An agent is lost if something was open on it, or when it does
// not come back; it reports whether the agent is lost.
func (h *Hub) ended(who identity, s *session) (lost bool) {
	why := fmt.Sprint(s.ended(errBroken))
	h.mu.Lock()
	l := h.leases[who.lease]
	if l == nil || l.Epoch != who.epoch || l.agents[who.bundle].session != s || h.closed() {
		h.mu.Unlock()
		return l == nil
	}
	a := &l.agents[who.bundle]
	a.session, a.joined = nil, make(chan struct{})
	var silent *SilentError
	if lost = s.busy() || errors.As(s.ended(errBroken), &silent); lost {
		h.forget(who.lease, errForgotten)
		h.mu.Unlock()
		h.Notify(Event{who.lease, who.bundle, Lost, why})
		return true
	}
	a.suspect = h.Clock.AfterFunc(comeBack, func() { h.lose(who, why) })
	h.mu.Unlock()
	h.Notify(Event{who.lease, who.bundle, Suspect, why})
	return false
}

// lose gives up an agent that did not come back.
func (h *Hub) lose(who identity, why string) {
	h.mu.Lock()
	l := h.leases[who.lease]
	gone := l == nil || l.Epoch != who.epoch || l.agents[who.bundle].session != nil || h.closed()
	if !gone {
		h.forget(who.lease, errForgotten)
	}
	h.mu.Unlock()
	if !gone {
		h.Notify(Event{who.lease, who.bundle, Lost, why})
	}
}

// fail gives up a lease on one of whose bundles nothing can run.
func (h *Hub) fail(who identity, why string) {
	h.mu.Lock()
	_, err := h.find(who)
	if err == nil {
		h.forget(who.lease, errForgotten)
	}
	h.mu.Unlock()
	if err == nil {
		h.Notify(Event{who.lease, who.bundle, Failed, why})
	}
}
