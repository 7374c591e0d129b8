package link

import (
	"net"
	"sync"
	"testing"
)

// proxy is a way to the hub that can be blocked: connections stay, and nothing comes through.
type proxy struct {
	net.Listener
	to string
	mu sync.Mutex
	// held are the connections; blocked holds back what comes.
	held    []net.Conn
	blocked bool
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to}
	t.Cleanup(func() { _ = l.Close(); p.cut() })
	go p.accept()
	return p
}

func (p *proxy) accept() {
	for {
		a, err := p.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = a.Close()
			continue
		}
		p.mu.Lock()
		p.held = append(p.held, a, b)
		p.mu.Unlock()
		go p.copy(a, b)
		go p.copy(b, a)
	}
}

func (p *proxy) copy(to, from net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		blocked := p.blocked
		p.mu.Unlock()
		if blocked {
			continue
		}
		if err != nil {
			_ = to.Close()
			return
		}
		_, _ = to.Write(buffer[:n])
	}
}

func (p *proxy) block() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = true
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.held {
		_ = c.Close()
	}
	p.held, p.blocked = nil, false
}

// through has an agent connect through a proxy alone.
func (w *world) through(lease string) (*proxy, Ticket) {
	ticket := w.expect(lease, 1)
	p := newProxy(w.t, ticket.Dial[0])
	ticket.Dial, ticket.File = []string{p.Addr().String()}, ""
	return p, ticket
}
