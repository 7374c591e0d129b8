package link

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
)

const (
	// singly is the number of lines of one kind that are logged one by one.
	singly = 10
	// sumEvery is how often one line counts the following ones.
	sumEvery = time.Minute
)

// quiet limits the lines that strangers cause in the log. Each connection to the port causes one. The first
// ones are logged, the others are counted. After a minute without any, the next ones are logged again.
type quiet struct {
	clock clock.Clock
	// sum logs the number of further lines.
	sum func(text string)
	// what names the counted events, in the plural and in the singular.
	what, one string

	mu    sync.Mutex
	lines int         // logged one by one
	more  int         // since the last line
	stop  func() bool // of the timer; nil: there was no line for a minute
	over  bool        // it is closed
}

// let reports whether one more line may be logged; otherwise it is counted.
func (q *quiet) let() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return false
	}
	if q.stop == nil {
		q.stop = q.clock.AfterFunc(sumEvery, q.minute)
	}
	if q.lines < singly {
		q.lines++
		return true
	}
	q.more++
	return false
}

// minute ends a minute.
func (q *quiet) minute() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return
	}
	if q.more == 0 {
		q.lines, q.stop = 0, nil
		return
	}
	q.flush()
	q.stop = q.clock.AfterFunc(sumEvery, q.minute)
}

// close logs the lines that were counted but not logged yet.
func (q *quiet) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stop != nil {
		q.stop()
	}
	q.over = true
	q.flush()
}

// flush logs how many were counted since the last line; q.mu is held.
func (q *quiet) flush() {
	what := q.what
	switch q.more {
	case 0:
		return
	case 1:
		what = q.one
	}
	q.sum(fmt.Sprintf("… and %d more %s since the last such line", q.more, what))
	q.more = 0
}

// foreign logs a connection that does not come from an agent.
func (h *Hub) foreign(conn net.Conn, why error) {
	if h.strangers.let() {
		h.Log.Debug("a connection that is not of an agent", "from", conn.RemoteAddr().String(), "error", why.Error())
	}
}

// warnCrowded says once that there are so many connections of strangers that some are turned away, and from where the
// last one was.
func (h *Hub) warnCrowded(from netip.Prefix) {
	h.Log.Once("crowded", fmt.Sprintf("%s; they come from %v, or from there most of all. Each new one takes "+
		"the place of an older one. On Linux, ss -tnp on the machine that they come from names the program",
		h.crowd(), from))
}

// Crowded says that strangers crowd the port, or did within the last minute; "": they do not.
func (h *Hub) Crowded() string {
	if !h.gate.full() {
		return ""
	}
	return h.crowd()
}

func (h *Hub) crowd() string {
	return fmt.Sprintf("the host's port %d has more than %d foreign connections at a time, which have not proved to "+
		"be of agents", h.place.Port, maxStrangers)
}

// refused logs that an agent was refused. It may also be a stranger.
func (h *Hub) refused(conn net.Conn, why error) {
	if h.refusals.let() {
		h.Log.Info("an agent was refused", "from", conn.RemoteAddr().String(), "error", why.Error())
	}
}

// newQuiets makes the limits for these lines.
func (h *Hub) newQuiets() {
	h.strangers = &quiet{clock: h.Clock, what: "connections that are not of agents",
		one: "connection that is not of an agent", sum: func(text string) { h.Log.Debug(text) }}
	h.refusals = &quiet{clock: h.Clock, what: "agents that were refused", one: "agent that was refused",
		sum: func(text string) { h.Log.Info(text) }}
}
