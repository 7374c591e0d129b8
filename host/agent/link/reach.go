package link

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk/quick"
)

// dialError is the failure of one address.
type dialError struct {
	address string
	err     error
}

// Error implements error.
func (e *dialError) Error() string {
	if e.address == throughDoor {
		return "through the engine: " + short(e.err)
	}
	return e.address + ": " + short(e.err)
}

// short returns an error without its address.
func short(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return op.Err.Error()
	}
	var unknown *tls.CertificateVerificationError
	if errors.As(err, &unknown) {
		return "another host or program answers there"
	}
	return untrusted.Line(err.Error(), maxWhy)
}

// tried returns the addresses in an error, each with its own error.
func tried(err error) (list []string) {
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		return []string{err.Error()}
	}
	for _, e := range several.Unwrap() {
		list = append(list, e.Error())
	}
	return list
}

// stagger is the time after which the next address is tried while earlier ones have not answered.
const stagger = time.Second

// reach connects to the first address that answers as the host.
func (a *Agent) reach(ctx context.Context) (*tls.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list := a.addresses()
	if a.Door != nil {
		list = append([]string{throughDoor}, list...)
	}
	next := make(chan struct{}, len(list))
	for i := range list[1:] {
		defer a.Clock.AfterFunc(time.Duration(i+1)*stagger, func() { next <- struct{}{} })()
	}
	r := &race{agent: a, list: list, failed: make([]error, len(list)), contacts: make(chan contact)}
	return r.run(ctx, next)
}

// A race connects to several addresses; the first that answers as the host wins.
type race struct {
	agent    *Agent
	list     []string // of addresses, of which the first are started
	started  int
	failed   []error // by address
	contacts chan contact
}

// contact is the result of one address.
type contact struct {
	at   int
	conn *tls.Conn
	err  error
}

// run starts the next address when next says so, or when all that are started have failed.
func (r *race) run(ctx context.Context, next <-chan struct{}) (*tls.Conn, error) {
	r.start(ctx)
	for done := 0; done < len(r.list); {
		select {
		case c := <-r.contacts:
			if c.err == nil {
				return c.conn, nil
			}
			r.failed[c.at] = &dialError{r.list[c.at], c.err}
			if done++; done == r.started {
				r.start(ctx)
			}
		case <-next:
			r.start(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, errors.Join(r.failed...)
}

// start tries the next address, if there is one.
func (r *race) start(ctx context.Context) {
	if r.started == len(r.list) {
		return
	}
	at, limit := r.started, r.agent.limit()
	r.started++
	go func() {
		conn, err := r.agent.shake(ctx, r.list[at], limit)
		select {
		case r.contacts <- contact{at, conn, err}:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
}

// shake connects to one address and makes sure that it is the host.
func (a *Agent) shake(ctx context.Context, address string, limit time.Duration) (*tls.Conn, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := silentFor(limit)
	onTime := a.Clock.AfterFunc(limit, func() { cancel(late) })
	defer func() { onTime() }()
	raw, err := a.dial(ctx, address)
	if err != nil {
		return nil, cmp.Or(causeOf(ctx, late), err)
	}
	if address == throughDoor && onTime() { // the wait was not the host's
		onTime = a.Clock.AfterFunc(limit, func() { cancel(late) })
	}
	config := &tls.Config{RootCAs: a.roots, ServerName: serverName, MinVersion: tls.VersionTLS13,
		NextProtos: []string{protocol}, Time: func() time.Time { return a.when }}
	if a.cert != nil {
		config.Certificates = []tls.Certificate{*a.cert}
	}
	conn := tls.Client(quick.Conn(raw), config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, cmp.Or(causeOf(ctx, late), err)
	}
	return conn, nil
}

// throughDoor represents the door in a list of addresses.
const throughDoor = "door"

// dial opens a connection to an address, or takes one.
func (a *Agent) dial(ctx context.Context, address string) (net.Conn, error) {
	switch {
	case address == throughDoor:
		return a.Door.Take(ctx)
	case a.Dial != nil:
		return a.Dial(ctx, address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

func silentFor(limit time.Duration) error {
	return fmt.Errorf("it does not answer within %v", limit.Round(100*time.Millisecond))
}

// causeOf returns late if that is why the context has ended.
func causeOf(ctx context.Context, late error) error {
	if context.Cause(ctx) == late {
		return late
	}
	return nil
}

// readWithin is how long the file with the host's addresses may take: its file system may be gone.
const readWithin = 2 * time.Second

// addresses returns those in the file of the current host, if it can be read, and those of the
// ticket.
func (a *Agent) addresses() []string {
	list := slices.Clone(a.Ticket.Dial)
	if a.Ticket.File == "" {
		return list
	}
	read := make(chan []string, 1)
	go func() {
		var p place
		text, err := storage.ReadFile(a.Ticket.File, maxFile)
		if err == nil {
			p, _ = parsePlace(text)
		}
		read <- p.Dial
	}()
	late := make(chan struct{})
	defer a.Clock.AfterFunc(readWithin, func() { close(late) })()
	select {
	case present := <-read:
		for _, address := range list {
			if !slices.Contains(present, address) {
				present = append(present, address)
			}
		}
		return present
	case <-late:
		return list
	}
}
