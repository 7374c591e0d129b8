package link

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The host notices within six seconds that nothing comes through; the agent is refused afterwards.
func TestPartition(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	r := run(t, ticket, 0)
	w.next(Connected)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	says(t, s, "hello")
	p.block()
	w.clock.advance(SilentFor + time.Second)
	if e := w.next(Lost); !strings.Contains(e.Why, "nothing for 5s") {
		t.Error(e)
	}
	<-s.Done()
	p.cut() // what is new comes through
	var refused *RefusedError
	if err := <-r.ended; !errors.As(err, &refused) {
		t.Error(err)
	}
}

// Each side notices by its own clock that the other one is silent, and not sooner.
func TestSilence(t *testing.T) {
	for _, host := range []bool{true, false} {
		a, b := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, b) }()
		c := newHandClock()
		s, err := keptSession(a, host, c)
		if err != nil {
			t.Fatal(err)
		}
		c.advance(SilentFor - checkEvery)
		if s.mux.IsClosed() {
			t.Error("it ended too soon:", s.ended(nil))
		}
		c.advance(2 * checkEvery)
		<-s.Done()
		var silent *SilentError
		if err := s.ended(nil); !errors.As(err, &silent) {
			t.Error(err)
		}
		_ = b.Close()
	}
}

// Beats keep a connection on which nothing else happens.
func TestBeats(t *testing.T) {
	a, b := net.Pipe()
	c := newHandClock()
	host, err := keptSession(a, true, c)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := keptSession(b, false, c)
	if err != nil {
		t.Fatal(err)
	}
	for agent.aliveStream() == nil {
		runtime.Gosched()
	}
	for range 20 {
		before := [2]time.Time{host.conn.lastHeard(), agent.conn.lastHeard()}
		c.advance(beatEvery)
		for !host.conn.lastHeard().After(before[0]) || !agent.conn.lastHeard().After(before[1]) {
			runtime.Gosched()
		}
	}
	_ = host.Close()
	<-agent.Done()
}

// A process that was stopped does not mistake its own pause for silence of the other side.
func TestStoodStill(t *testing.T) {
	w := openHub(t, t.TempDir())
	run(t, w.expect("th-1", 1), 0)
	w.next(Connected)
	w.clock.mu.Lock()
	w.clock.now = w.clock.now.Add(time.Hour)
	w.clock.mu.Unlock()
	w.clock.advance(checkEvery)
	s, _ := w.Wait(t.Context(), "th-1", 0)
	says(t, s, "hello")
}

// An agent that does not come back is lost.
func TestDoesNotComeBack(t *testing.T) {
	w := openHub(t, t.TempDir())
	p, ticket := w.through("th-1")
	run(t, ticket, 0)
	w.next(Connected)
	_ = p.Close()
	p.cut()
	w.next(Suspect)
	w.clock.advance(SilentFor + checkEvery)
	w.next(Lost)
}
