package link

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
)

// Options are what a [Hub] needs.
type Options struct {
	// Dir is the hub's own folder in the experiment's directory.
	Dir string
	// Experiment is the experiment's name, for messages.
	Experiment string
	// Address is how agents reach this machine, as host or host:port; "": only by the addresses that the
	// machine knows itself.
	Address string
	// Port is where to listen; 0: where an earlier host listened, or anywhere.
	Port int
	// Grace is how long agents wait for a host that does not answer.
	Grace time.Duration
	// Notify is called with each change, in order for each agent. It must not wait.
	Notify func(Event)
	Log    *hostlog.Log
	Clock  clock.Clock
}

// Event is a change of the connection of an agent.
type Event struct {
	Lease  string
	Bundle int
	Kind   EventKind
	// Why is the reason of Suspect, Lost and Failed.
	Why string
}

// EventKind is the kind of a change.
type EventKind uint8

const (
	// Connected: the agent has connected for the first time since the host started.
	Connected EventKind = iota + 1
	// Suspect: the connection broke. The agent is lost soon if it does not come back.
	Suspect
	// Resumed: the agent has connected again, and its session continues.
	Resumed
	// Back: it came back in time, with a new session. Nothing was open on the last one.
	Back
	// Lost: the agent is gone, or cut off. The hub forgets the lease: its agents are refused, and end.
	Lost
	// Leaving: the engine has told the agent that its node is taken away soon.
	Leaving
	// Failed: nothing can run on the agent's bundle. The hub forgets the lease.
	Failed
)

// comeBack is how long an agent whose connection broke may take to connect again.
const comeBack = SilentFor

// Hub is the host's side of all connections.
type Hub struct {
	Options
	authority *authority
	state     state
	listener  net.Listener
	others    []net.Listener // of Serve
	tls       *tls.Config
	place     place
	gate      *gate
	done      chan struct{}
	strangers *quiet // connections of others than agents
	refusals  *quiet

	mu     sync.Mutex
	epoch  uint64
	leases map[string]*lease
}

type lease struct {
	expected
	token string // "": an earlier host has it
	// keys has, for each bundle whose token was used, the SHA-256 of the key that it was used for.
	keys   map[int]string
	agents []agent
	gone   chan struct{} // closed when it is forgotten
}

// agent is one agent of a lease.
type agent struct {
	session *session
	joined  chan struct{} // closed once there is a session
	suspect func() bool   // stops the timer within which it must reconnect
	known   bool          // it has connected to this host
}

// Open opens the hub of an experiment and listens. Leases of an earlier host are expected until
// [Hub.Retain] forgets them.
func Open(o Options) (*Hub, error) {
	h := &Hub{Options: o, leases: map[string]*lease{}, done: make(chan struct{})}
	h.gate = newGate(o.Clock, h.warnCrowded)
	h.newQuiets()
	var err error
	if h.state, err = openState(o.Dir); err != nil {
		return nil, err
	}
	if h.authority, err = openAuthority(o.Dir, o.Clock.Now()); err != nil {
		return nil, err
	}
	if err := h.recall(); err != nil {
		return nil, err
	}
	if err := h.listen(); err != nil {
		return nil, err
	}
	go h.accept(h.listener)
	return h, nil
}

// Serve accepts connections of agents on another listener, too, until Close, which closes it.
func (h *Hub) Serve(l net.Listener) {
	h.mu.Lock()
	h.others = append(h.others, l)
	h.mu.Unlock()
	go h.accept(l)
}

// recall reads what an earlier host left.
func (h *Hub) recall() (err error) {
	if h.place, err = h.state.place(); err != nil {
		h.Log.Warn(filepath.Join(h.Dir, hostFile) + ": " + err.Error() + "; the host listens on a new port")
	}
	h.place.Hosts++
	earlier, err := h.state.leases()
	for name, e := range earlier {
		h.leases[name] = newLease(*e)
		h.epoch = max(h.epoch, e.Epoch)
	}
	h.epoch = max(h.epoch, uint64(h.place.Hosts)<<24)
	return err
}

func newLease(e expected) *lease {
	l := &lease{expected: e, keys: map[int]string{}, agents: make([]agent, e.Bundles), gone: make(chan struct{})}
	for i := range l.agents {
		l.agents[i].joined = make(chan struct{})
	}
	return l
}

// listen listens on the port of the options, or that of the earlier host, or any.
func (h *Hub) listen() (err error) {
	if h.listener, err = net.Listen("tcp", ":"+strconv.Itoa(cmp.Or(h.Port, h.place.Port))); err != nil {
		if h.Port != 0 {
			return fmt.Errorf("cannot listen for agents on port %d (option host_port of the executor): %w", h.Port, err)
		}
		was := h.place.Port
		if h.listener, err = net.Listen("tcp", ":0"); err != nil {
			return fmt.Errorf("cannot listen for agents: %w", err)
		}
		if len(h.leases) > 0 {
			h.Log.Warn(fmt.Sprintf("the port %d of the earlier host is in use: agents on nodes that do not share this "+
				"file system cannot connect again; set the executor's option host_port to a port that is free", was))
		}
	}
	h.place.Port = h.listener.Addr().(*net.TCPAddr).Port
	h.place.Dial = DialAddresses(h.Address, h.place.Port)
	cert, err := h.authority.hosts()
	if err == nil {
		err = h.state.setPlace(h.place)
	}
	if err != nil {
		_ = h.listener.Close()
		return err
	}
	h.tls = &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.VerifyClientCertIfGiven,
		ClientCAs: h.authority.pool(), MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		SessionTicketsDisabled: true, Time: func() time.Time { return h.authority.moment() }}
	return nil
}

// Addresses returns the addresses at which agents reach the host.
func (h *Hub) Addresses() []string { return slices.Clone(h.place.Dial) }

// Expect makes the hub expect the agents of a lease, and returns the value of TUNEHOST_AGENT for
// them. It returns the same value until the lease is forgotten.
func (h *Hub) Expect(name string, bundles int) (string, error) {
	if !validLease(name) || bundles < 1 {
		return "", fmt.Errorf("lease %q with %d bundles cannot have agents", name, bundles)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[name]
	if l == nil || l.token == "" || l.Bundles != bundles {
		h.forget(name, errForgotten)
		h.epoch++
		token := rand.Text()
		l = newLease(expected{Epoch: h.epoch, Bundles: bundles, Token: digest([]byte(token))})
		l.token = token
		if err := h.state.setLease(name, &l.expected); err != nil {
			return "", err
		}
		h.leases[name] = l
	}
	return Ticket{Dial: h.place.Dial, Authority: h.authority.cert.Raw, Token: l.token, Lease: name, Epoch: l.Epoch,
		Experiment: h.Experiment, GraceSeconds: h.Grace.Seconds(), File: filepath.Join(h.Dir, hostFile)}.Text(), nil
}

// Retain forgets all leases but these.
func (h *Hub) Retain(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Collect(maps.Keys(h.leases)) {
		if !slices.Contains(names, name) {
			h.forget(name, errForgotten)
		}
	}
}

// Forget ends the sessions of a lease. Its agents are refused from now on, and end.
func (h *Hub) Forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(name, errForgotten)
}

// forget is Forget; h.mu is held.
func (h *Hub) forget(name string, why error) {
	l := h.leases[name]
	if l == nil {
		return
	}
	delete(h.leases, name)
	close(l.gone)
	for i := range l.agents {
		a := &l.agents[i]
		if a.suspect != nil {
			a.suspect()
		}
		if a.session != nil {
			go a.session.dismiss(why)
		}
	}
	if err := h.state.removeLease(name); err != nil {
		h.Log.Warn(fmt.Sprintf("lease %s: %v", name, err))
	}
}

// Bundles returns how many agents of a lease are connected, and how many it has; 0, 0 for a lease that
// is not expected.
func (h *Hub) Bundles(name string) (connected, of int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[name]
	if l == nil {
		return 0, 0
	}
	for _, a := range l.agents {
		if a.session != nil {
			connected++
		}
	}
	return connected, l.Bundles
}

// Rejoins reports whether all agents of a lease were connected to an earlier host.
func (h *Hub) Rejoins(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[name]
	return l != nil && l.token == "" && len(l.Joined) == l.Bundles
}

// ErrForgotten: the lease is not expected, or not any longer.
var ErrForgotten = errors.New("the lease has ended")

// Wait waits until an agent is connected, and returns its session.
func (h *Hub) Wait(ctx context.Context, name string, bundle int) (Session, error) {
	for {
		h.mu.Lock()
		l := h.leases[name]
		if l == nil || bundle < 0 || bundle >= l.Bundles {
			h.mu.Unlock()
			return nil, fmt.Errorf("lease %s: %w", name, ErrForgotten)
		}
		s, joined := l.agents[bundle].session, l.agents[bundle].joined
		h.mu.Unlock()
		if s != nil {
			return s, nil
		}
		select {
		case <-joined:
		case <-l.gone:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close ends all connections. Agents wait for another host.
func (h *Hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.done:
		return nil
	default:
	}
	close(h.done)
	h.strangers.close()
	h.refusals.close()
	for _, l := range h.leases {
		for i := range l.agents {
			a := &l.agents[i]
			if a.suspect != nil {
				a.suspect()
			}
			if a.session != nil {
				go func() { _ = a.session.end(errClosed) }()
			}
		}
	}
	for _, l := range h.others {
		_ = l.Close()
	}
	return h.listener.Close()
}

func (h *Hub) closed() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}
