package exec_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/internal/testplace"
)

// logs keeps what the host logs.
type logs struct {
	testplace.Screen
	engine *engine
}

func (l *logs) Write(b []byte) (int, error) {
	n, err := l.Screen.Write(b)
	if l.engine.logged != nil {
		l.engine.logged(string(b))
	}
	return n, err
}

// world is a granter that runs.
type world struct {
	*exec.Granter
	t      *testing.T
	engine *engine
	events chan core.Event
	log    *logs
	mu     sync.Mutex
	noted  exec.Kept // the leases that may not be over
}

func begin(t *testing.T, e *engine, adopt ...core.LeaseID) *world {
	t.Helper()
	return beginAt(t, newEager(), e, adopt...)
}

func beginAt(t *testing.T, c clock.Clock, e *engine, adopt ...core.LeaseID) *world {
	t.Helper()
	if e.leases == nil {
		e.leases = map[string]int{}
	}
	first, err := e.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, engine: e, events: make(chan core.Event, 1000), log: &logs{engine: e}}
	w.Granter = exec.New(exec.Options{Title: `executor "test"`, Prefix: "x-", First: first, Open: e.open,
		Note: w.note, Log: hostlog.Open(w.log, nil), Clock: c, Agents: e.agents, Post: func(events ...core.Event) {
			for _, e := range events {
				w.events <- e
			}
		}})
	if adopt != nil {
		w.Do(core.AdoptLeases{Leases: adopt})
	}
	w.Flush()
	go w.Run()
	return w
}

func (w *world) note(k exec.Kept) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted = k
}

func (w *world) ask(lease core.LeaseID, request string) {
	w.t.Helper()
	r, err := resource.ParseRequest(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Do(core.RequestLease{Lease: lease, Request: r})
	w.Flush()
}

func (w *world) release(lease core.LeaseID) {
	w.Do(core.ReleaseLease{Lease: lease})
	w.Flush()
}

// passes lets time pass once the first lease is granted and its agents are awaited. A clock that runs by itself would
// go on while a busy machine holds up the test, and the agents would be late.
func (w *world) passes(c *byHand, d time.Duration) {
	w.t.Helper()
	testplace.Soon(w.t, "the grant", func() bool { return w.Addresses(1) != nil })
	c.pass(d)
}

// hears waits for events.
func (w *world) hears(want ...string) {
	w.t.Helper()
	for _, text := range want {
		select {
		case e := <-w.events:
			if got := fmt.Sprintf("%T %+v", e, e); !strings.Contains(got, text) {
				w.t.Errorf("%s; want %s", got, text)
			}
		case <-w.t.Context().Done():
			w.t.Fatal("nothing, not", text)
		}
	}
}

// hearsAtLast waits for an event after any others.
func (w *world) hearsAtLast(want string) {
	w.t.Helper()
	for {
		select {
		case e := <-w.events:
			if strings.Contains(fmt.Sprintf("%T %+v", e, e), want) {
				return
			}
		case <-w.t.Context().Done():
			w.t.Fatal("nothing, not", want)
		}
	}
}

// ends closes the granter and checks the calls that the engine received.
func (w *world) ends(want ...string) {
	w.t.Helper()
	if kept := w.Close(w.t.Context()); kept != nil {
		w.t.Errorf("not released: %v", kept)
	}
	if got := strings.Join(w.engine.calls, "\n"); got != strings.Join(want, "\n") {
		w.t.Errorf("calls:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	select {
	case e := <-w.events:
		w.t.Errorf("%T %+v", e, e)
	default:
	}
}

// warned checks that the log has one such warning.
func (w *world) warned(text string) {
	w.t.Helper()
	n := 0
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, "[WARN]") && strings.Contains(line, text) {
			n++
		}
	}
	if n != 1 {
		w.t.Errorf("%d warnings of %s:\n%s", n, text, w.log.String())
	}
}
