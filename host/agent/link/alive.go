package link

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tunehost/tunehost/host/clock"
)

// The keepalive: each side sends a byte each second, and closes a connection that was silent for a
// time.
const (
	beatEvery  = time.Second
	checkEvery = beatEvery / 2
	// SilentFor is how long a connection may be silent. It is noticed within another half second.
	SilentFor = 5 * time.Second
	// BrokenFor is how long an agent whose connection broke may hear nothing. It is a beat less: when the host
	// gives the agent up, whatever runs there has ended.
	BrokenFor = SilentFor - beatEvery
	// kindAlive is the purpose of the stream of the keepalive. The host opens it first.
	kindAlive = "alive"
	beat      = '.'
	// notice is the beat of an agent whose node is taken away soon.
	notice = 'N'
)

// heard is a connection that knows when it last received something.
type heard struct {
	net.Conn
	clock clock.Clock
	mu    sync.Mutex
	last  time.Time
}

// Read implements net.Conn.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 {
		h.now()
	}
	return n, err
}

func (h *heard) now() { h.heardAt(h.clock.Now()) }

// heardAt notes that the other side was heard at a time. Where a session continues, that is when the greeting was
// sent or read, so that an agent never counts from a later time than its host.
func (h *heard) heardAt(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.After(h.last) {
		h.last = t
	}
}

// silent returns how long nothing was received.
func (h *heard) silent() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock.Since(h.last)
}

func (h *heard) lastHeard() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// SilentError ends a session whose other side said nothing for a time.
type SilentError struct{ For time.Duration }

// Error implements error.
func (e *SilentError) Error() string {
	return fmt.Sprintf("it has said nothing for %v", e.For.Round(time.Second))
}

// watch closes the session when the other side is silent, and sends a beat each second.
func (s *session) watch(conn *heard) {
	if s.host {
		go s.openAlive()
	}
	last := s.clock.Now()
	var tick func()
	n := 0
	tick = func() {
		if s.mux.IsClosed() {
			return
		}
		if s.clock.Since(last) > SilentFor/2 {
			conn.now() // this process was stopped; bytes of the other side may be unread
		}
		last = s.clock.Now()
		if silent := conn.silent(); silent >= s.patience() {
			_ = s.end(&SilentError{silent})
			return
		}
		if n++; n%int(beatEvery/checkEvery) == 0 {
			s.beatNow()
		}
		s.clock.AfterFunc(checkEvery, tick)
	}
	s.clock.AfterFunc(checkEvery, tick)
}

// patience is how long the other side may be silent.
func (s *session) patience() time.Duration {
	if !s.host && s.rope.broken() {
		return BrokenFor
	}
	return SilentFor
}

// pulse has the beats of a session.
type pulse struct {
	sending sync.Mutex  // while a beat is sent
	due     atomic.Bool // the next one waits
}

// beatNow sends a beat, unless one waits already until the last one is sent. It does not wait itself.
func (s *session) beatNow() {
	if !s.pulse.due.Swap(true) {
		go s.sendBeat()
	}
}

// announce tells the host with each beat from now on that the agent's node is taken away soon.
func (s *session) announce() {
	s.leaving.Store(true)
	s.beatNow()
}

func (s *session) beat() byte {
	if s.leaving.Load() {
		return notice
	}
	return beat
}

// sendBeat sends a beat on the stream of the keepalive, if that is open, and reads those of the other side. No
// goroutine waits for the next beat of either side: a host has thousands of sessions.
func (s *session) sendBeat() {
	s.pulse.sending.Lock()
	s.pulse.due.Store(false)
	on := s.aliveStream()
	if on != nil {
		_, _ = on.Write([]byte{s.beat()}) // it fails when the session has ended
	}
	s.pulse.sending.Unlock()
	if on != nil {
		s.hearBeats(on)
	}
}

// hearBeats reads the beats that have come since the last ones, or waits for the next one: one of them may be the
// agent's notice. All beats count like other bytes, too.
func (s *session) hearBeats(conn net.Conn) {
	var beats [64]byte
	_ = conn.SetReadDeadline(time.Now().Add(beatEvery))
	n, _ := conn.Read(beats[:])
	if s.host && bytes.IndexByte(beats[:n], notice) >= 0 {
		s.tale.notice()
	}
}

// openAlive opens the stream of the keepalive.
func (s *session) openAlive() {
	if conn, err := s.openStream(context.Background(), Purpose{Kind: kindAlive}); err == nil {
		s.setAlive(conn)
	}
}

// dismiss tells the agent that its lease has ended, and ends the session.
func (s *session) dismiss(why error) {
	s.rope.sayGoodbye()
	_ = s.end(why)
}

func (s *session) setAlive(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = conn
}

func (s *session) aliveStream() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alive
}
