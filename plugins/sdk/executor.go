package sdk

import (
	"context"
	"time"
)

// Executor allocates leases: a lease is the right to use certain devices of certain nodes for
// a while. It decides where trials run and when; the host decides which trials run.
// Calls come one at a time, the first of them is Adopt.
//
// Every call may be repeated: after an error, or after the executor's process has
// ended, the host makes the call again with the same leases. The name of a lease
// identifies it; the host records the name before it requests the lease. If Allocate
// is called again for a lease, the executor must not request it from its engine again.
//
// An error of any call means that the engine could not be reached or did not answer:
// the host makes the call again after a while. What the engine refuses permanently is a
// [LeaseRefused] event.
//
// An Executor that is an io.Closer is closed after the last call, unless its process
// was killed. Closing releases no lease.
type Executor interface {
	// Allocate requests leases. It does not wait until they are granted.
	Allocate(ctx context.Context, leases []LeaseRequest) error
	// Adopt lists all leases of the experiment that count, and is called before
	// anything else. The state of each is reported as if it were new; LeaseLost is reported for
	// those that the executor does not have. All other leases of the experiment
	// are released.
	Adopt(ctx context.Context, leases []string) error
	// Release releases leases in any state. Those that the
	// executor does not have are released already.
	Release(ctx context.Context, leases []string) error
}

// CapacityExecutor is an [Executor] that knows the resources of its cluster. They are
// not guaranteed: they are for messages and for searchers that plan ahead.
type CapacityExecutor interface {
	Executor
	// Capacity is the nodes that leases can be on: without those that the user's options leave out.
	Capacity(ctx context.Context) ([]ClusterNode, error)
}

// ExecutorPlugin is an executor that can be served.
type ExecutorPlugin struct {
	Info
	// Open checks everything that can be checked and makes the executor. options is a
	// JSON object that conforms to Info.Options. The executor calls tell with each event
	// of a lease, from any goroutine; tell never waits. The executor must not call tell
	// before Adopt is called.
	Open func(x Execution, options []byte, tell func(...LeaseEvent)) (Executor, ExecutorTraits, error)
}

// Execution is the experiment for which an executor is opened.
type Execution struct {
	// Experiment is the experiment's name, and Dir its directory, absolute.
	Experiment string
	Dir        string
	// Prefix is the beginning of the names of all leases of this experiment, and of no
	// other experiment: lower case letters, digits and dashes.
	Prefix string
	// Agent is the program to start on each bundle of a granted lease; nil: none.
	Agent *Agent
	// HostGrace is how long leases and agents wait for a host that has died, as the user has
	// set it; 0: the executor chooses. Agents end by themselves then.
	HostGrace time.Duration
	// Host is the address, as HOST:PORT, at which this process reaches the host. It is for agents that cannot
	// reach the host by themselves: see package plugins/sdk/bridge. "": agents must reach the host by themselves.
	// The address changes with each start of the host.
	Host string
}

// Agent is the program that connects a bundle of a granted lease with the host. An executor
// that starts agents runs, on every bundle, `Path agent` with [AgentVariable] and
// [AgentBundleVariable] in the environment, in addition to what the engine sets there. When an
// agent exits, the lease has ended, and the executor reports LeaseLost. Release ends the
// agents of a lease, and an agent ends whatever it has started.
//
// Where nodes cannot connect to the host, the executor runs `Path agent --socket SOCKET` instead, and
// connects `Path agent bridge SOCKET` on the same node with the host: see package plugins/sdk/bridge. Where other
// users share the node and its /tmp, SOCKET is a name that they cannot predict, in [AgentSocketVariable].
type Agent struct {
	// Path is the static binary on the host's machine, absolute.
	Path string
	// SHA256 is the checksum of its content, in hex. If a node does not have this content
	// at Path, the executor sends the binary there, at most once.
	SHA256 string
}

// The environment variables of an agent, and of the processes that it starts.
const (
	// AgentVariable has LeaseRequest.Agent.
	AgentVariable = "TUNEHOST_AGENT"
	// BaseDirVariable names the folder of the uploaded files, for processes on a node.
	BaseDirVariable = "TUNEHOST_BASE_DIR"
	// AgentBundleVariable has the index of the bundle in LeaseRequest.Bundles, from 0.
	AgentBundleVariable = "TUNEHOST_AGENT_BUNDLE"
	// AgentSocketVariable has the SOCKET of an agent or a bridge instead of its command line, which other users
	// of the node can read.
	AgentSocketVariable = "TUNEHOST_AGENT_SOCKET"
	// AgentFailureVariable says in one line why nothing can run on the bundle, such as a setup that fails: the agent
	// tells the host, which gives the lease up for that reason, and ends. Executors set it where they have no other
	// way to learn the reason.
	AgentFailureVariable = "TUNEHOST_AGENT_FAILURE"
	// AgentNodeVariable has the name of the node for its engine, if that may differ from the name of the machine.
	AgentNodeVariable = "TUNEHOST_AGENT_NODE"
)

// ExecutorTraits are the properties of an opened executor.
type ExecutorTraits struct {
	// Gangs: a lease may have several bundles, which are granted together or not
	// at all.
	Gangs bool
	// Capacity: it is a [CapacityExecutor]. The function that serves it sets this field.
	Capacity bool
	// Agents: it starts Execution.Agent on each bundle of a granted lease. The host uses a
	// lease when the agents of all its bundles have connected.
	Agents bool
}

// Amount is an amount of one resource: cpu, gpu, memory (bytes), or any name that
// the cluster knows.
type Amount struct {
	Name  string
	Value float64
}

// LeaseRequest is a request for a lease.
type LeaseRequest struct {
	// Lease is its name: the prefix and a number, at most 63 characters.
	Lease string
	// Bundles are granted together or not at all; each lies on one node.
	Bundles []LeaseBundle
	// Strategy says how bundles lie on nodes: pack, spread, strict_pack or
	// strict_spread.
	Strategy string
	// Agent is the value of [AgentVariable] for the agents of this lease; "": none. It is a
	// secret: anyone who has it can pose as an agent of the lease. It must not be in a command
	// line, in the name of a job, or in a file that other users can read.
	Agent string
}

// LeaseBundle is what one share of one node must have, sorted by name. It may be
// empty: a share of any node.
type LeaseBundle []Amount

// Get is the amount of a resource.
func (b LeaseBundle) Get(name string) float64 {
	for _, a := range b {
		if a.Name == name {
			return a.Value
		}
	}
	return 0
}

// LeaseEventKind is the new state of a lease.
type LeaseEventKind uint8

// The kinds. LeaseLost and LeaseRefused end a lease: nothing is reported about it
// afterwards, and it need not be released.
const (
	// LeasePending: it waits; Why is the engine's reason. Until is set if it will not be granted: all that the executor
	// could grant ends then. The host ends once nothing runs and all leases wait so.
	LeasePending LeaseEventKind = iota + 1
	// LeaseGranted: Bundles can be used, until Until if that is known.
	LeaseGranted
	// LeaseEnding: it will be taken away at the time Until. Trials on it are told
	// to save and stop.
	LeaseEnding
	// LeaseLost: it is gone, or may be gone; Why says what happened. The host no longer
	// relies on anything that runs on it. It may also be reported of a lease that was released while it was ending,
	// once the engine says who or what has ended it.
	LeaseLost
	// LeaseRefused: it can never be granted; Why is the engine's reason.
	LeaseRefused
)

var leaseEventKinds = [...]string{"unknown", "pending", "granted", "ending", "lost", "refused"}

// String is one word, for logs.
func (k LeaseEventKind) String() string {
	if int(k) >= len(leaseEventKinds) {
		return leaseEventKinds[0]
	}
	return leaseEventKinds[k]
}

// LeaseEvent is a change of the state of a lease.
type LeaseEvent struct {
	Lease string
	Kind  LeaseEventKind
	// Why is in the engine's words, one line.
	Why string
	// Bundles are the nodes of a granted lease, in the order of the request.
	Bundles []GrantedBundle
	// Until is when it ends; the zero time: not known.
	Until time.Time
}

// GrantedBundle is the node of a granted bundle.
type GrantedBundle struct {
	Node string
	// Devices are its GPUs, as CUDA_VISIBLE_DEVICES names them.
	Devices []string
	// Address is the address at which other nodes of the cluster reach this one; "": Node.
	Address string
}

// ClusterNode is a node that leases may lie on.
type ClusterNode struct {
	Name        string
	Total, Free []Amount
	Down        bool
}
