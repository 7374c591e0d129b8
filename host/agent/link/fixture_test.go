package link

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
)

// world is a hub with its events.
type world struct {
	*Hub
	t      *testing.T
	clock  *handClock
	events chan Event
}

func openHub(t *testing.T, dir string) *world {
	t.Helper()
	c := newHandClock()
	w := openHubBy(t, dir, c)
	w.clock = c
	return w
}

func openHubBy(t *testing.T, dir string, c clock.Clock, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, events: make(chan Event, 10000)}
	o := Options{Dir: dir, Experiment: "digits", Address: "127.0.0.1", Grace: time.Minute, Clock: c,
		Log: hostlog.New(hclog.NewNullLogger()), Notify: func(e Event) { w.events <- e }}
	for _, f := range change {
		f(&o)
	}
	h, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	w.Hub = h
	return w
}

func (w *world) expect(lease string, bundles int) Ticket {
	w.t.Helper()
	value, err := w.Expect(lease, bundles)
	if err != nil {
		w.t.Fatal(err)
	}
	ticket, err := ParseTicket(value)
	if err != nil {
		w.t.Fatal(err)
	}
	return ticket
}

// next returns the next event, which must be of a kind.
func (w *world) next(kind EventKind) Event {
	w.t.Helper()
	e := <-w.events
	if e.Kind != kind {
		w.t.Fatalf("%+v, not of kind %d", e, kind)
	}
	return e
}

// nextByBeats is next where a beat of an agent tells it. The host reads beats when it sends one, and waits a second for
// each: those of an agent that is slow come later.
func (w *world) nextByBeats(kind EventKind) Event {
	w.t.Helper()
	for len(w.events) == 0 {
		w.clock.advance(beatEvery)
		for end := time.Now().Add(beatEvery); len(w.events) == 0 && time.Now().Before(end); {
			time.Sleep(beatEvery / 1000)
		}
	}
	return w.next(kind)
}

// running is an agent that runs; it echoes what it gets on streams.
type running struct {
	*Agent
	served chan struct{} // closed when it serves for the first time: a test may then call its methods
	ended  chan error
	logs   chan string
}

func run(t *testing.T, ticket Ticket, bundle int, change ...func(*Agent)) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{served: make(chan struct{}), ended: make(chan error, 1), logs: make(chan string, 1000)}
	serves := sync.OnceFunc(func() { close(r.served) })
	r.Agent = &Agent{Ticket: ticket, Bundle: bundle, Clock: clock.System{}, Log: func(s string) { r.logs <- s },
		Serve: func(ctx context.Context, s Session) error {
			serves()
			return echo(ctx, s)
		}}
	for _, f := range change {
		f(r.Agent)
	}
	done := make(chan bool)
	go func() {
		r.ended <- r.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func echo(_ context.Context, s Session) error {
	for {
		_, conn, err := s.Accept()
		if err != nil {
			return nil
		}
		go func() {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}()
	}
}

// says sends a text to the agent, which sends it back.
func says(t *testing.T, s Session, text string) net.Conn {
	t.Helper()
	conn, err := s.Open(t.Context(), Purpose{Kind: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != text {
		t.Fatalf("%q %v", got, err)
	}
	return conn
}
