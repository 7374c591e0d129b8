package link

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/plugins/sdk/quick"
)

const (
	// maxStrangers is how many connections there may be that have not proved yet that they are agents.
	maxStrangers = 512
	// strangerWithin is how long a handshake may take.
	strangerWithin = 10 * time.Second
	// crowdedFor is how long the port counts as crowded after a connection was turned away.
	crowdedFor = time.Minute
)

// gate limits the connections that have not proved yet that they are agents. It lets each new one in at once. When it
// is full, it turns an older one away: the oldest one of those that have said nothing, else the oldest one of all, in
// both cases of the address that has most of them. So strangers keep nobody out, whether they are slow or many.
type gate struct {
	clock clock.Clock
	// crowded is called with the address of each connection that is turned away.
	crowded func(from netip.Prefix)

	mu     sync.Mutex
	silent crowd
	spoken crowd     // they have sent something
	turned time.Time // when the last one was turned away
}

// stranger is a connection that has not proved yet that it is of an agent.
type stranger struct {
	net.Conn
	raw  net.Conn
	gate *gate
	from netip.Prefix
	late func() bool
	once sync.Once
	in   *crowd // nil: it has left
	at   *list.Element
}

func newGate(c clock.Clock, crowded func(netip.Prefix)) *gate {
	return &gate{clock: c, crowded: crowded, silent: crowd{of: map[netip.Prefix]*list.List{}},
		spoken: crowd{of: map[netip.Prefix]*list.List{}}}
}

// enter lets a connection in, which leaves when it has proved what it is, or is closed.
func (g *gate) enter(conn net.Conn) *stranger {
	s := &stranger{Conn: quick.Conn(conn), raw: conn, gate: g, from: sourceOf(conn)}
	s.late = g.clock.AfterFunc(strangerWithin, func() { _ = conn.Close() })
	if away := g.place(s); away != nil {
		away.late()
		drop(away.raw)
		g.crowded(away.from)
	}
	return s
}

// place gives a stranger a place, and returns the one that had it; nil: it was free.
func (g *gate) place(s *stranger) (away *stranger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.silent.size+g.spoken.size >= maxStrangers {
		if away = g.silent.oldest(); away == nil {
			away = g.spoken.oldest()
		}
		away.in.remove(away)
		g.turned = g.clock.Now()
	}
	g.silent.add(s)
	return away
}

// drop closes a connection without a word, so that the system keeps nothing of it.
func drop(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
}

// Read implements net.Conn. It notes that the other side has said something.
func (s *stranger) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if n > 0 {
		s.once.Do(s.speaks)
	}
	return n, err
}

func (s *stranger) speaks() {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	if s.in == &s.gate.silent {
		s.in.remove(s)
		s.gate.spoken.add(s)
	}
}

// leave gives the place back, once.
func (s *stranger) leave() {
	s.late()
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	if s.in != nil {
		s.in.remove(s)
	}
}

func (g *gate) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.silent.size + g.spoken.size
}

// full reports whether connections were turned away within the last minute.
func (g *gate) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.turned.IsZero() && g.clock.Since(g.turned) < crowdedFor
}

// crowd is a set of strangers, by the addresses that they come from.
type crowd struct {
	of   map[netip.Prefix]*list.List // of *stranger, the oldest first; none is empty
	size int
}

func (c *crowd) add(s *stranger) {
	l := c.of[s.from]
	if l == nil {
		l = list.New()
		c.of[s.from] = l
	}
	s.in, s.at = c, l.PushBack(s)
	c.size++
}

func (c *crowd) remove(s *stranger) {
	l := c.of[s.from]
	l.Remove(s.at)
	if l.Len() == 0 {
		delete(c.of, s.from)
	}
	s.in = nil
	c.size--
}

// oldest returns the oldest one from the address that has most of them; nil: there is none.
func (c *crowd) oldest() *stranger {
	var most *list.List
	for _, l := range c.of {
		if most == nil || l.Len() > most.Len() {
			most = l
		}
	}
	if most == nil {
		return nil
	}
	return most.Front().Value.(*stranger)
}

// sourceOf returns what a connection counts for. A machine has all of 127.0.0.0/8, and usually a whole /64 of IPv6.
func sourceOf(conn net.Conn) netip.Prefix {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap(), 64
	switch {
	case ip.Is4() && ip.IsLoopback():
		bits = 8
	case ip.Is4():
		bits = 32
	}
	p, _ := ip.WithZone("").Prefix(bits) // the numbers are valid
	return p
}
