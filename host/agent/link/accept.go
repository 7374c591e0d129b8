package link

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tunehost/tunehost/host/untrusted"
)

// accept serves connections until Close.
func (h *Hub) accept(l net.Listener) {
	failures := 0
	for {
		conn, err := l.Accept()
		if h.closed() {
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err != nil { // because of a lack of file descriptors, for example
			failures++
			h.pause(time.Duration(min(failures, 10)) * 100 * time.Millisecond)
			h.Log.Once("accept", fmt.Sprintf("a connection of an agent cannot be accepted: %v; it is tried again", err))
			continue
		}
		failures = 0
		guest := h.gate.enter(conn)
		go func() {
			s, who, taken := h.greet(guest)
			guest.leave()
			switch {
			case s != nil:
				if err := h.admit(who, s); err != nil {
					_ = s.end(err)
				}
			case !taken:
				_ = conn.Close()
			}
		}()
	}
}

func (h *Hub) pause(d time.Duration) {
	over := make(chan struct{})
	stop := h.Clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-h.done:
	}
}

// greet reads which agent has connected. An agent with a certificate gets a session, or continues the one that it has,
// which takes the connection. One without a
// certificate gets a certificate.
func (h *Hub) greet(raw *stranger) (s *session, who identity, taken bool) {
	conn := tls.Server(raw, h.tls)
	if err := conn.HandshakeContext(context.Background()); err != nil {
		h.foreign(raw, err)
		return nil, who, false
	}
	certs := conn.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		h.certify(conn)
		return nil, who, false
	}
	who, err := identityOf(certs[0])
	if err == nil {
		err = h.check(who)
	}
	if err != nil {
		h.refuse(conn, err)
		return nil, who, false
	}
	var g greeting
	if err := readHello(conn, &g); err != nil {
		h.foreign(raw, err)
		return nil, who, false
	}
	raw.leave()
	if g.Failure != "" {
		h.fail(who, untrusted.Line(g.Failure, maxWhy))
		_ = say(conn, answer{Refused: errForgotten.Error()})
		return nil, who, false
	}
	if g.Session != "" {
		return nil, who, h.resume(conn, who, &g)
	}
	if s = h.begin(conn); s != nil {
		s.before = untrusted.Line(g.Ended, maxWhy)
	}
	return s, who, true
}

// givenUpError ends a session that its agent has ended earlier. It has ended what it had started there, too.
type givenUpError struct {
	why   string // as the agent says; "": it does not say
	broke error  // what the host knows of the connection; nil: nothing
}

// Error implements error.
func (e *givenUpError) Error() string {
	text := "the agent has given the connection up"
	if e.why != "" {
		text += ": " + e.why
	}
	if e.broke != nil {
		text += fmt.Sprintf(" (here it broke: %v)", e.broke)
	}
	return text
}

// begin begins a session on a connection; nil: it broke.
func (h *Hub) begin(conn *tls.Conn) *session {
	id := rand.Text()
	if say(conn, answer{Session: id}) != nil {
		_ = conn.Close()
		return nil
	}
	s, err := keptSession(conn, true, h.Clock)
	if err != nil {
		_ = conn.Close()
		return nil
	}
	s.id = id
	return s
}

// resume continues the session of an agent on another connection, which it reports. An agent whose session the host
// does not have any longer is told so, and ends it.
func (h *Hub) resume(conn *tls.Conn, who identity, g *greeting) bool {
	s := h.present(who)
	if s == nil || s.id != g.Session {
		_ = say(conn, answer{})
		return false
	}
	s.resuming.Lock()
	defer s.resuming.Unlock()
	if g.Try <= s.tries {
		return false
	}
	s.tries = g.Try
	greeted := h.Clock.Now()
	err := say(conn, answer{Session: s.id, Received: s.rope.suspend()})
	if err == nil {
		s.conn.heardAt(greeted)
		err = s.rope.carry(conn, g.Received)
	}
	if errors.Is(err, errCount) {
		_ = s.end(err)
	}
	return err == nil
}

// present is the session that an agent has; nil: none.
func (h *Hub) present(who identity) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, err := h.find(who); err == nil {
		return l.agents[who.bundle].session
	}
	return nil
}

// certify answers a request for a certificate.
func (h *Hub) certify(conn *tls.Conn) {
	q, csr, err := readRequest(conn)
	if err != nil {
		h.refuse(conn, errHello)
		return
	}
	key, err := x509.MarshalPKIXPublicKey(csr.PublicKey)
	if err != nil {
		h.refuse(conn, errHello)
		return
	}
	cert, err := h.redeem(q, csr.PublicKey, digest(key))
	if err != nil {
		h.refuse(conn, err)
		return
	}
	_ = say(conn, answer{Certificate: cert})
	_ = conn.Close()
}

// refuse sends the reason, and closes the connection.
func (h *Hub) refuse(conn *tls.Conn, why error) {
	h.refused(conn, why)
	_ = say(conn, answer{Refused: why.Error()})
	_ = conn.Close()
}

// check checks an agent before it gets a session.
func (h *Hub) check(who identity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.find(who)
	return err
}
