package agent

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/local"
)

// Options are what an agent needs.
type Options struct {
	// Mark is the mark of the agent's processes, see local.NewMark.
	Mark string
	// Environ is the environment that the engine gave the agent, as NAME=VALUE. Processes get it without
	// the agent's own variables.
	Environ []string
	// Dir is the folder for the files of trials, which exists. The caller removes it.
	Dir string
	// Log is called with what is wrong with a request. It may be nil.
	Log func(text string)
	// Guard is called before a process starts. If it fails, the process does not start. It may be
	// nil.
	Guard func() error
	// Leaving is closed when the engine has said that the node is taken away soon; nil: it never says so.
	Leaving <-chan struct{}
}

// Agent carries out what its host asks for. Its methods may be called from any goroutine.
type Agent struct {
	Options
	mu        sync.Mutex
	closed    bool
	processes map[string]*running
	busy      sync.WaitGroup
	session   link.Session // the newest; nil: none yet
	ranks     *ranks       // nil: none have been needed
	shipped   shipped
	leftovers leftovers
}

// New returns an agent that runs nothing yet.
func New(o Options) *Agent {
	o.Environ = slices.DeleteFunc(slices.Clone(o.Environ), private)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Guard == nil {
		o.Guard = func() error { return nil }
	}
	return &Agent{Options: o, processes: map[string]*running{}}
}

// private reports whether a variable belongs to the agent, such as its secret, or to the process
// that started the agent.
func private(variable string) bool {
	name := message.Variable(variable)
	return strings.HasPrefix(name, "TUNEHOST_AGENT") || strings.HasPrefix(name, "PLUGIN_") ||
		name == local.MarkVariable
}

// Serve carries out the host's requests on a connection, until the connection ends. The processes that
// were started on it have ended when it returns, with all that they have started.
func (a *Agent) Serve(s link.Session) error {
	defer a.leftovers.kill(a.Mark, func() bool { return true })
	a.mu.Lock()
	a.session = s
	a.mu.Unlock()
	for {
		purpose, conn, err := s.Accept()
		if err != nil {
			return err
		}
		if !a.begin() {
			_ = conn.Close()
			return nil
		}
		go func() {
			defer a.busy.Done()
			a.serve(s, purpose, conn)
		}()
	}
}

// begin counts a stream, unless the agent is closed.
func (a *Agent) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.busy.Add(1)
	}
	return !a.closed
}

// stream is a stream that the host has opened.
type stream struct {
	net.Conn
	*message.Writer
	session link.Session
}

// askTime is how long a host may take to send the request of a stream.
const askTime = time.Minute

// serve answers one stream, and closes it.
func (a *Agent) serve(session link.Session, purpose link.Purpose, conn net.Conn) {
	defer conn.Close()
	s := &stream{conn, message.NewWriter(conn), session}
	serve := map[string]func(*stream) error{message.StreamStart: a.start, message.StreamDial: a.dial,
		message.StreamProbe: a.probe, message.StreamFiles: a.files,
		message.StreamShip: a.ship, message.StreamLogs: a.logs, message.StreamStore: a.store,
		message.StreamNotice: a.notice}[purpose.Kind]
	if serve == nil {
		serve = func(*stream) error {
			return fmt.Errorf("this agent has no streams of the kind %q: it is older than its host", purpose.Kind)
		}
	}
	if err := serve(s); err != nil {
		a.Log(fmt.Sprintf("%s: %v", purpose.Kind, err))
		_ = s.Put(message.No, message.RefusalOf(err))
	}
}

// ask reads the host's request.
func (s *stream) ask(into any) error {
	if err := s.SetReadDeadline(time.Now().Add(askTime)); err != nil {
		return err
	}
	if err := message.Expect(s.Conn, message.Ask, into); err != nil {
		return err
	}
	return s.SetReadDeadline(time.Time{})
}

// maxNotice bounds how long an answer about the end of the node waits.
const maxNotice = time.Second

// notice says whether the node is taken away. An engine signals the processes of a job one after the other: a
// process may have ended by the signal before this agent has got it.
func (a *Agent) notice(s *stream) error {
	var n message.Notice
	if err := s.ask(&n); err != nil {
		return err
	}
	within := min(n.Within, maxNotice)
	a.hear(more(a.hear(within), within))
	return s.Put(message.Yes, message.Noticed{Leaving: a.isLeaving()})
}

// A machine that wakes this agent late has more to do than it can. Its engine is late with signals, too, and gets
// busyPart times as long, but no more than that part of the time that the host has asked for.
const (
	busy     = 2 * time.Millisecond
	busyPart = 10
)

// more returns how much longer an agent waits whose wait has ended late.
func more(late, within time.Duration) time.Duration {
	if late < busy {
		return 0
	}
	return min(busyPart*late, busyPart*within, maxNotice)
}

// hear waits for the engine's signal, and returns how late it has ended without one.
func (a *Agent) hear(within time.Duration) (late time.Duration) {
	begun := time.Now()
	wait := time.NewTimer(within)
	defer wait.Stop()
	select {
	case <-a.Leaving:
		return 0
	case <-wait.C:
		return time.Since(begun) - within
	}
}

// isLeaving reports whether the engine has said that the node is taken away.
func (a *Agent) isLeaving() bool {
	select {
	case <-a.Leaving:
		return true
	default:
		return false
	}
}

// Close kills all processes and waits for their end.
func (a *Agent) Close() {
	a.mu.Lock()
	a.closed = true
	for _, p := range a.processes {
		p.Kill()
	}
	a.ranks.close()
	a.mu.Unlock()
	a.busy.Wait()
	a.shipped.close()
}

// dial connects the host to a process's socket.
func (a *Agent) dial(s *stream) error {
	var d message.Dial
	if err := s.ask(&d); err != nil {
		return err
	}
	a.mu.Lock()
	p := a.processes[d.ID]
	a.mu.Unlock()
	if p == nil {
		return fmt.Errorf("there is no process %q here", d.ID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	to, err := p.Dial(ctx, d.Socket)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := s.Put(message.Yes, struct{}{}); err != nil {
		return nil // the host has left
	}
	link.Splice(s.Conn, to)
	return nil
}
