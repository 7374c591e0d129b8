package link

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/internal/testplace"
)

// A stranger that sends something other than a handshake, an endless line or nothing is disconnected, and
// keeps nobody else out.
func TestStrangers(t *testing.T) {
	w := openHub(t, t.TempDir())
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", strings.Repeat("\x16", 1<<16), "\x16\x03\x01\xff\xff"} {
		conn, err := net.Dial("tcp", w.Addresses()[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(text))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // until the hub closes it
	}
	long, err := tls.Dial("tcp", w.Addresses()[0], w.client())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = long.Write([]byte(strings.Repeat("x", 2*maxHello)))
	if a, err := readAnswer(long); err == nil && a.Refused == "" {
		t.Error(a)
	}
}

// Thousands of connections that say nothing are open, and others are opened all the time. An agent connects, and
// connects again after its connection broke. The user is told why, once.
func TestCrowdOfStrangers(t *testing.T) {
	warned, clock := make(chan string, 1), newHandClock()
	w := openHubBy(t, t.TempDir(), clock, func(o *Options) {
		o.Log = hostlog.Open(io.Discard, hostlog.NewScreen(lines(warned), "host.log"))
	})
	if got := w.Crowded(); got != "" {
		t.Error(got)
	}
	visit := func() net.Conn {
		conn, err := net.Dial("tcp", w.Addresses()[0])
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for range 3000 {
		defer func(c net.Conn) { _ = c.Close() }(visit())
	}
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	defer flood.Wait()
	defer stop()
	flood.Go(func() {
		for ctx.Err() == nil {
			var some []net.Conn
			for range 100 {
				if conn, err := net.Dial("tcp", w.Addresses()[0]); err == nil {
					some = append(some, conn)
				}
			}
			for _, conn := range some {
				_ = conn.Close()
			}
		}
	})
	p, ticket := w.through("th-1")
	run(t, ticket, 0)
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	says(t, s, "hello")
	p.cut()
	w.next(Suspect)
	w.next(Resumed)
	if n := w.gate.size(); n > maxStrangers {
		t.Errorf("%d strangers are there", n)
	}
	for _, text := range []string{<-warned, w.Crowded()} {
		if !strings.Contains(text, fmt.Sprintf("more than %d foreign connections", maxStrangers)) {
			t.Error(text)
		}
	}
	stop()
	flood.Wait()
	testplace.Soon(t, "a port that is not crowded any more", func() bool { // some may have to be accepted yet
		clock.advance(crowdedFor)
		return w.Crowded() == ""
	})
}

// lines passes on what is written, unless nobody takes it.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// visitor is a connection from an address. It says what is put into said.
type visitor struct {
	net.Conn
	from   string
	closed bool
}

func (v *visitor) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(v.from))
}
func (v *visitor) Read(p []byte) (int, error) { return len(p), nil }
func (v *visitor) Close() error               { v.closed = true; return nil }

// A connection from an address with many others is turned away before one from an address with few, and one that has
// said nothing before one that has.
func TestWhoIsTurnedAway(t *testing.T) {
	var from []string
	g := newGate(newHandClock(), func(p netip.Prefix) { from = append(from, p.String()) })
	enter := func(address string) (*visitor, *stranger) {
		v := &visitor{from: address}
		return v, g.enter(v)
	}
	node, _ := enter("10.0.0.5:1000")
	spoken, guest := enter("127.0.0.1:1000")
	_, _ = guest.Read(make([]byte, 1))
	oldest, _ := enter("127.0.0.1:2000")
	for i := range maxStrangers {
		enter(fmt.Sprintf("127.0.%d.1:3000", i/200))
	}
	if node.closed || spoken.closed || !oldest.closed {
		t.Errorf("closed: node %v, spoken %v, oldest %v", node.closed, spoken.closed, oldest.closed)
	}
	if want := slices.Repeat([]string{"127.0.0.0/8"}, 3); !slices.Equal(from, want) {
		t.Errorf("turned away from %v", from)
	}
	guest.leave()
	if n := g.size(); n != maxStrangers-1 {
		t.Errorf("%d are left", n)
	}
}

// When all have said something, those of the address with the most go first.
func TestAllHaveSpoken(t *testing.T) {
	g := newGate(newHandClock(), func(netip.Prefix) {})
	var all []*visitor
	for i := range maxStrangers + 1 {
		v := &visitor{from: "[2001:db8::1]:1000"}
		if i == 0 {
			v.from = "10.0.0.5:1000"
		}
		all = append(all, v)
		_, _ = g.enter(v).Read(make([]byte, 1))
	}
	if all[0].closed || !all[1].closed || all[2].closed {
		t.Error("closed:", all[0].closed, all[1].closed, all[2].closed)
	}
}
