package link

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A host that accepts connections and says nothing costs no more than the grace.
func TestGraceBoundsTheHandshake(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket := w.expect("th-1", 1)
	ticket.Dial, ticket.File, ticket.GraceSeconds = []string{"192.0.2.1:1"}, "", 6
	c, dialled := newHandClock(), make(chan net.Conn, 100)
	r := run(t, ticket, 0, func(a *Agent) {
		a.Clock = c
		a.Dial = func(context.Context, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			dialled <- theirs
			return ours, nil
		}
	})
	conn := <-dialled
	defer func() { _ = conn.Close() }()
	if late := c.latest(); late != 6*time.Second {
		t.Fatalf("the handshake may take %v", late)
	}
	c.advance(6 * time.Second)
	err := <-r.ended
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "it does not answer within 6s") {
		t.Error(err)
	}
}

// latest is in how long the last timer runs out.
func (c *handClock) latest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return 0
	}
	last := slices.MaxFunc(c.timers, func(a, b *timer) int { return a.at.Compare(b.at) })
	return last.at.Sub(c.now)
}

// What is left of the grace bounds how long the agent waits between two tries, and each try; the last try
// has time to be a real one.
func TestLeftOfTheGrace(t *testing.T) {
	c := newHandClock()
	a := &Agent{Ticket: Ticket{GraceSeconds: 60}, Clock: c, since: c.Now()}
	for _, at := range []struct{ passed, pause, limit time.Duration }{
		{0, 2 * lastWait, strangerWithin},
		{57 * time.Second, 3 * time.Second, 3 * time.Second},
		{59900 * time.Millisecond, 100 * time.Millisecond, leastTry},
		{time.Hour, 0, leastTry},
	} {
		a.since = c.Now().Add(-at.passed)
		for range 100 {
			if pause := a.pause(20); pause < 0 || pause > at.pause {
				t.Errorf("after %v: it waits %v", at.passed, pause)
			}
		}
		if limit := a.limit(); limit != at.limit {
			t.Errorf("after %v: a try takes %v", at.passed, limit)
		}
	}
}
