// Package link is the connection between a host and the agents that it has on the nodes of an
// engine. Each bundle of a lease has an agent, and each agent one [Session] at a time, on which
// either side opens streams. Packages host/agent and host/exec/remote define the purpose of the
// streams.
//
// A [Hub] is the host's side. It listens on one TCP port and keeps, in the experiment's directory,
// a certificate authority of its own, the port, and the leases whose agents it expects. [Dial] is
// the agent's side. It connects, and connects again when the connection breaks, until the host
// refuses it or does not answer for a time.
//
// The first connection of an agent has no certificate. It shows the token of its lease and asks for
// a certificate; the token serves once for each bundle. All other connections are mutual TLS 1.3.
// An agent trusts nothing but the authority in its [Ticket], and the host nothing but certificates
// of that authority for a lease that it expects, at its present epoch.
//
// Both sides say something each second. When a connection breaks, the agent connects again, and the session
// continues. A session that is silent for five seconds ends: the other side may continue its work, but this side does
// not count on it. Streams end with their session.
package link
