// Package door connects an agent with a host that it cannot reach from its node. The agent listens on a unix
// socket, and a [Bridge] joins the socket with the input and output of a program that the engine runs there.
// The executor joins the other end of the bridge with the host (package plugins/sdk/bridge). The bytes are the
// same as in a connection that the agent opens itself, so that neither the executor nor the engine can read or
// change them.
package door
