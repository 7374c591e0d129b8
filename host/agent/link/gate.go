package link

import (
	"container/list"
	"net"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
)

const (
	// maxStrangers is how many connections may be in their handshake at a time.
	maxStrangers = 256
	// strangerWithin is how long a handshake may take.
	strangerWithin = 10 * time.Second
	// patience is how long a handshake may take while others wait.
	patience = 2 * time.Second
)

// gate limits the connections that have not proved yet that they are agents. When it is full, the
// oldest connection is closed if it has taken long, so that slow strangers keep nobody out.
type gate struct {
	clock clock.Clock
	mu    sync.Mutex
	in    list.List // of *stranger, the oldest first
	left  chan struct{}
}

type stranger struct {
	conn  net.Conn
	since time.Time
	late  func() bool
}

func newGate(c clock.Clock) *gate { return &gate{clock: c, left: make(chan struct{}, 1)} }

// enter waits for a place; leave gives it back.
func (g *gate) enter(conn net.Conn, done <-chan struct{}) (leave func()) {
	for {
		leave, wait := g.try(conn)
		if leave != nil {
			return leave
		}
		timer := make(chan struct{}, 1)
		stop := g.clock.AfterFunc(wait, func() { timer <- struct{}{} })
		select {
		case <-g.left:
		case <-timer:
		case <-done:
			_ = conn.Close()
			return func() {}
		}
		stop()
	}
}

// try is enter without waiting: it returns how long to wait before the next try.
func (g *gate) try(conn net.Conn) (leave func(), wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in.Len() >= maxStrangers {
		oldest := g.in.Front()
		s := oldest.Value.(*stranger)
		if age := g.clock.Since(s.since); age < patience {
			return nil, patience - age
		}
		g.in.Remove(oldest)
		_ = s.conn.Close()
	}
	s := &stranger{conn: conn, since: g.clock.Now()}
	s.late = g.clock.AfterFunc(strangerWithin, func() { _ = conn.Close() })
	at := g.in.PushBack(s)
	return func() { g.leave(at) }, 0
}

func (g *gate) leave(at *list.Element) {
	g.mu.Lock()
	g.in.Remove(at)
	g.mu.Unlock()
	at.Value.(*stranger).late()
	select {
	case g.left <- struct{}{}:
	default:
	}
}

func (g *gate) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.in.Len()
}
