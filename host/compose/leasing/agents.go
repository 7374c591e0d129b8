package leasing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// agents are the agents on the leases of an experiment.
type agents struct {
	ready   chan struct{} // closed once there are a hub and a granter
	hub     *link.Hub
	granter *exec.Granter
	log     *hostlog.Log
	ranks   atomic.Pointer[remote.Ranks] // nil until trials can start
}

// closeInside ends the listening of an executor that starts no agents.
func (s *Leasing) closeInside() {
	if s.inner != nil {
		_ = s.inner.Close()
	}
}

// agentProgram is this program, if it can be an agent; nil if it cannot.
func agentProgram() (*sdk.Agent, error) {
	if !bundled.Watches() {
		return nil, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the program for agents cannot be found: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the program for agents cannot be found: %w", err)
	}
	sum, err := process.HashUnchanged(path, info)
	return &sdk.Agent{Path: path, SHA256: sum}, err
}

// expectAgents listens for agents.
func (s *Leasing) expectAgents() (*agents, error) {
	b, e := s.setup, s.setup.Plan.Experiment
	a := &agents{log: b.Log, ready: make(chan struct{})}
	hub, err := link.Open(link.Options{Dir: b.Dir.Agents(), Experiment: e.Name, Grace: e.HostGrace,
		Address: e.HostAddress, Port: e.HostPort, Notify: a.notify, Log: b.Log, Clock: b.Options.Clock})
	if err != nil {
		return nil, err
	}
	a.hub = hub
	if s.inner != nil {
		hub.Serve(s.inner)
		s.inner = nil
	}
	return a, nil
}

// listenInside listens for connections that the executor's process brings from agents that cannot connect
// themselves. It has to know where before it says whether it starts agents.
func (s *Leasing) listenInside() {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		s.inner, s.host = l, l.Addr().String()
	}
}

// notify hears of changes of the connections to agents.
func (a *agents) notify(e link.Event) {
	switch e.Kind {
	case link.Connected, link.Back:
		go a.relay(e.Lease, e.Bundle)
	case link.Suspect:
		a.log.Info(fmt.Sprintf("the connection to %s of the lease %s broke: %s; the agent has %v to connect again",
			a.named(e.Lease, e.Bundle), e.Lease, e.Why, link.BrokenFor))
	case link.Resumed:
		a.log.Info(fmt.Sprintf("%s of the lease %s has connected again", a.named(e.Lease, e.Bundle), e.Lease))
	case link.Leaving:
		go a.end(e.Lease)
	case link.Failed:
		go a.lose(e.Lease, e.Why)
	case link.Lost:
		go a.lose(e.Lease, fmt.Sprintf("%s is lost: %s", a.named(e.Lease, e.Bundle), e.Why))
	}
}

// named names an agent for the user.
func (a *agents) named(lease string, bundle int) string {
	select {
	case <-a.ready:
		node, of := a.granter.NodeOf(lease, bundle)
		return nameOf(node, bundle, of)
	default: // it is of an earlier host, and this one has no leases yet
		return nameOf("", bundle, 0)
	}
}

// nameOf names an agent by its node, and by its bundle if there are several.
func nameOf(node string, bundle, of int) string {
	switch {
	case node == "":
		return fmt.Sprintf("the agent of bundle %d", bundle)
	case of == 1:
		return "the agent on the node " + node
	}
	return fmt.Sprintf("the agent of bundle %d on the node %s", bundle, node)
}

// own says that there is a granter. Agents of an earlier host may have connected before.
func (a *agents) own(g *exec.Granter) {
	a.granter = g
	close(a.ready)
}

func (a *agents) end(lease string) {
	<-a.ready
	a.granter.EndAgents(lease)
}

func (a *agents) lose(lease, why string) {
	<-a.ready
	a.granter.LoseAgents(lease, why)
}

// relay starts on other nodes of a lease what an agent asks for.
func (a *agents) relay(lease string, bundle int) {
	<-a.ready
	if _, of := a.hub.Bundles(lease); of < 2 {
		return // there are no other nodes
	}
	ctx := context.Background() // a lease that is over is not waited for
	s, err := a.hub.Wait(ctx, lease, bundle)
	if err == nil {
		remote.Relay(s, func(ctx context.Context, other int, p *process.Program) (link.Session, error) {
			ranks := a.ranks.Load()
			id, ok := a.granter.LeaseOf(lease)
			if ranks == nil || !ok {
				return nil, errors.New("no trial runs on this lease yet")
			}
			return (*ranks).Place(ctx, id, other, p)
		})
	}
}

// port returns the agents for a granter.
func (a *agents) port() exec.Agents {
	if a == nil {
		return nil
	}
	return port{a.hub}
}

type port struct{ *link.Hub }

// Wait implements exec.Agents.
func (p port) Wait(ctx context.Context, lease string, bundle int) error {
	_, err := p.Hub.Wait(ctx, lease, bundle)
	return err
}

// Session implements remote.Sessions.
func (a *agents) Session(ctx context.Context, lease core.LeaseID, bundle int) (link.Session, error) {
	s, err := a.hub.Wait(ctx, a.granter.Lease(lease), bundle)
	if errors.Is(err, link.ErrForgotten) {
		err = errors.Join(exec.ErrLeaseOver, err)
	}
	return s, err
}

// close ends the connections. Agents whose leases last wait for the next host.
func (a *agents) close() {
	if a != nil {
		_ = a.hub.Close()
	}
}

// Nodes are where trials run; nil: on this machine.
func (s *Leasing) Nodes() remote.Sessions {
	if s.agents == nil {
		return nil
	}
	return s.agents
}

// Serve lets the programs of groups start on other nodes of their leases.
func (s *Leasing) Serve(r remote.Ranks) {
	if s.agents != nil {
		s.agents.ranks.Store(&r)
	}
}

// Addresses are by what the nodes of a lease reach each other; nil: they are this machine.
func (s *Leasing) Addresses(lease core.LeaseID) []string {
	if s.agents == nil {
		return nil
	}
	return s.granter.Addresses(lease)
}

// GiveUp gives a lease back on which nothing can start.
func (s *Leasing) GiveUp(lease core.LeaseID, why string) { s.granter.GiveUp(lease, why) }
