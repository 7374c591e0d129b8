package link

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/untrusted"
)

// Agent is the agent's side of the connection.
type Agent struct {
	Ticket Ticket
	// Bundle is the index of the agent's bundle in its lease, from 0.
	Bundle int
	// Serve carries out the host's requests on a session. Its context ends with the session, and the
	// next session begins when it has returned. If it returns [ErrEnd], the agent ends.
	Serve func(context.Context, Session) error
	// Log is called with one line for a failed connection, and one when connections work again.
	Log   func(string)
	Clock clock.Clock
	// Dial opens a connection; nil: by TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Door has connections to the host that others have opened, besides its addresses; nil: none.
	Door Door
	// Leaving is closed when the engine has said that the node is taken away soon. The host is told, and the
	// agent ends when its connection does, or at once if there is none. It may be nil.
	Leaving <-chan struct{}
	// Failure is why nothing can run on the bundle: the host is told, and the agent ends; "": something can.
	Failure string

	roots *x509.CertPool
	when  time.Time // at which certificates are checked
	since time.Time // since when the host has not answered
	ended string    // why the last session ended, for the host; "": there was none
	key   crypto.Signer
	cert  *tls.Certificate
}

// Door takes connections that somebody else has opened to the host.
type Door interface {
	// Take waits for the next one.
	Take(ctx context.Context) (net.Conn, error)
	// Await waits until there is one.
	Await(ctx context.Context)
}

// ErrEnd is what Serve returns when the agent must end.
var ErrEnd = errors.New("the agent ends")

// RefusedError says that the host has refused this agent.
type RefusedError struct{ Why string }

// Error implements error.
func (e *RefusedError) Error() string { return "the host has refused this agent: " + e.Why }

// UnreachableError says that no address of the host has answered for a time.
type UnreachableError struct {
	For   time.Duration
	Tried []string // each with its error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the host cannot be reached for %v (%s)", e.For.Round(time.Second), strings.Join(e.Tried, "; "))
}

// Run connects to the host and serves it, again and again. It returns nil when the host does not need the
// agent any longer. It fails when the host refuses the agent or does not answer for the ticket's grace,
// when Serve ends the agent, or when ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.prepare(); err != nil {
		return err
	}
	failures := 0
	a.since = a.Clock.Now()
	until, stay := context.WithCancel(ctx) // or until the node is taken away
	defer stay()
	defer a.whenLeaving(until, stay)()
	for until.Err() == nil {
		s, err := a.connect(until)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused) && a.Failure != "":
			return nil // the host knows
		case errors.As(err, &refused):
			return err
		case until.Err() != nil && s == nil:
		case err != nil:
			if waited := a.Clock.Since(a.since); waited >= a.Ticket.Grace() {
				return &UnreachableError{waited, tried(err)}
			}
			failures++
			a.say(failures, err)
			a.wait(until, failures)
		default:
			if failures > 0 {
				a.Log("connected to the host")
			}
			failures = 0
			switch err := a.serve(ctx, s); {
			case errors.Is(err, errForgotten):
				return nil
			case err != nil:
				return err
			}
			a.since = a.Clock.Now()
		}
	}
	return ctx.Err()
}

// whenLeaving calls f when the node is taken away, until the context ends or the result is called.
func (a *Agent) whenLeaving(ctx context.Context, f func()) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		select {
		case <-a.Leaving:
			f()
		case <-ctx.Done():
		}
	}()
	return stop
}

// prepare makes the agent's key, which never leaves its process.
func (a *Agent) prepare() (err error) {
	if a.Bundle < 0 {
		return fmt.Errorf("bundle %d does not exist", a.Bundle)
	}
	root, err := x509.ParseCertificate(a.Ticket.Authority)
	if err != nil {
		return errTicket
	}
	a.roots, a.when = x509.NewCertPool(), momentOf(root)
	a.roots.AddCert(root)
	a.key, err = newKey()
	return err
}

// serve serves one session. errForgotten: the host dismissed the agent.
func (a *Agent) serve(ctx context.Context, s *session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	go func() {
		<-s.Done()
		cancel()
	}()
	defer a.whenLeaving(ctx, s.announce)()
	mended := make(chan struct{})
	go func() {
		defer close(mended)
		a.mend(ctx, s)
	}()
	err := a.Serve(ctx, s)
	_ = s.Close()
	cancel()
	<-mended
	switch why := s.ended(nil); {
	case errors.Is(err, ErrEnd):
		return err
	case errors.Is(why, errForgotten):
		return why
	case !errors.Is(why, errClosed):
		a.ended = ofHost(why)
		a.Log(fmt.Sprintf("the connection to the host has ended: %v; connecting again for %v", why, a.Ticket.Grace()))
	}
	return nil
}

// ofHost returns why a session has ended in words for the host.
func ofHost(why error) string {
	var silent *SilentError
	if errors.As(why, &silent) {
		return fmt.Sprintf("it heard nothing from this host for %v", silent.For.Round(time.Second))
	}
	return fmt.Sprint(why)
}

// Waits grow from the first to the last.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

func (a *Agent) wait(ctx context.Context, failures int) {
	over, end := context.WithCancel(ctx)
	defer end()
	defer a.Clock.AfterFunc(a.pause(failures), end)()
	if a.Door != nil {
		a.Door.Await(over)
		return
	}
	<-over.Done()
}

// pause returns how long to wait before the next try, within the grace.
func (a *Agent) pause(failures int) time.Duration {
	wait := min(firstWait<<min(failures-1, 10), lastWait)
	return min(wait/2+mathrand.N(wait), max(a.left(), 0))
}

// left returns the rest of the grace.
func (a *Agent) left() time.Duration { return a.Ticket.Grace() - a.Clock.Since(a.since) }

// leastTry is how long an address may always take, so that the last try can succeed, too.
const leastTry = time.Second

// limit returns how long an address may take to answer.
func (a *Agent) limit() time.Duration { return min(strangerWithin, max(a.left(), leastTry)) }

// say logs the first failure, and some of the following ones.
func (a *Agent) say(failures int, err error) {
	if failures == 1 || failures%20 == 0 {
		a.Log(fmt.Sprintf("the host does not answer (%s); trying for %v", strings.Join(tried(err), "; "),
			a.Ticket.Grace()))
	}
}

// connect opens a session. Without a certificate it gets one first.
func (a *Agent) connect(ctx context.Context) (*session, error) {
	if a.cert == nil {
		conn, err := a.reach(ctx)
		if err != nil {
			return nil, err
		}
		err = a.certify(conn)
		_ = conn.Close()
		if err != nil {
			return nil, err
		}
	}
	conn, got, err := a.greet(ctx, greeting{Ended: a.ended, Failure: a.Failure})
	if err != nil {
		return nil, err
	}
	s, err := keptSession(conn, false, a.Clock)
	if err == nil {
		s.id = got.Session
	}
	return s, err
}

// greet connects with the certificate, and says what for.
func (a *Agent) greet(ctx context.Context, g greeting) (conn *tls.Conn, got answer, err error) {
	if conn, err = a.reach(ctx); err != nil {
		return nil, got, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = a.within(conn, func() error {
		err := say(conn, g)
		if err == nil {
			got, err = readAnswer(conn)
		}
		if err == nil && got.Refused != "" {
			err = &RefusedError{untrusted.Line(got.Refused, maxWhy)}
		}
		return a.named(conn, err)
	})
	if err != nil {
		_ = conn.Close()
	}
	return conn, got, err
}

const maxWhy = 500

// certify exchanges the token for a certificate.
func (a *Agent) certify(conn *tls.Conn) error {
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, a.key)
	if err != nil {
		return err
	}
	return a.within(conn, func() error {
		err := say(conn, request{Token: a.Ticket.Token, Lease: a.Ticket.Lease, Epoch: a.Ticket.Epoch, Bundle: a.Bundle,
			CSR: csr})
		if err != nil {
			return a.named(conn, err)
		}
		got, err := readAnswer(conn)
		switch {
		case err != nil:
			return a.named(conn, err)
		case got.Refused != "":
			return &RefusedError{untrusted.Line(got.Refused, maxWhy)}
		}
		if _, err := x509.ParseCertificate(got.Certificate); err != nil {
			return a.named(conn, errHello)
		}
		a.cert = &tls.Certificate{Certificate: [][]byte{got.Certificate}, PrivateKey: a.key}
		return nil
	})
}

// named adds the address to an error.
func (a *Agent) named(conn *tls.Conn, err error) error {
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return &dialError{conn.RemoteAddr().String(), err}
}

// within closes a connection on which something takes too long.
func (a *Agent) within(conn net.Conn, f func() error) error {
	limit := a.limit()
	onTime := a.Clock.AfterFunc(limit, func() { _ = conn.Close() })
	err := f()
	if !onTime() && err != nil {
		err = silentFor(limit)
	}
	return err
}
