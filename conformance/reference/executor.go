package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// Executor grants leases on virtual nodes, and stores them in a file.
var Executor = sdk.ExecutorPlugin{
	Info: sdk.Info{
		Kind: sdk.KindExecutor, Name: "reference", Version: "1.0.0",
		Summary: "Grants leases on virtual nodes, as an example of an executor.",
		Options: executorOptions.Schema(),
	},
	Open: openExecutor,
}

// A cluster has nodes with one GPU each.
type cluster struct{ Nodes, CPU int }

var executorOptions = option.Declare(func(c *cluster) []option.Option {
	return []option.Option{
		option.Int("nodes", &c.Nodes, 2, option.From(1), "The number of nodes, each with a GPU."),
		option.Int("cpu", &c.CPU, 4, option.From(1), "The number of CPUs of a node."),
	}
})

// executor has the leases of its experiment.
type executor struct {
	cluster
	agent  *sdk.Agent
	prefix string
	dir    string
	tell   func(...sdk.LeaseEvent)
	closed chan struct{}

	mu      sync.Mutex
	adopted bool
	state
}

// state is what the executor stores.
type state struct {
	Leases  map[string]*lease
	Waiting []sdk.LeaseRequest // for room, in order
}

// lease is a granted lease. Agents are the process groups of its agents.
type lease struct {
	Bundles []bundle
	Agents  []int
}

// bundle is the part of a node that a bundle has.
type bundle struct{ Node, CPU, GPU int }

func openExecutor(x sdk.Execution, options []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits,
	error) {
	c, err := executorOptions.Read(options)
	if err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	e := &executor{cluster: c, agent: x.Agent, prefix: x.Prefix, dir: x.Dir, tell: tell, closed: make(chan struct{}),
		state: state{Leases: map[string]*lease{}}}
	if err := e.read(); err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	go e.watch()
	return e, sdk.ExecutorTraits{Gangs: true, Agents: x.Agent != nil}, nil
}

// Close ends the executor. Its leases and their agents stay.
func (e *executor) Close() error {
	close(e.closed)
	return nil
}

func (e *executor) file() string { return filepath.Join(e.dir, "leases-"+e.prefix+".json") }

// read reads the leases of an earlier process.
func (e *executor) read() error {
	text, err := os.ReadFile(e.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e.state)
	}
	return err
}

// keep stores the leases before any event about them is sent.
func (e *executor) keep() error {
	text, err := json.Marshal(e.state)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(e.file()+".new", text, 0o600), os.Rename(e.file()+".new", e.file()))
}

// Allocate grants the leases for which there is room. Others wait, and those that never fit are refused.
func (e *executor) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var events []sdk.LeaseEvent
	for _, r := range leases {
		if e.Leases[r.Lease] != nil || e.waits(r.Lease) {
			continue
		}
		if err := e.empty().place(r); err != nil {
			events = append(events, sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseRefused, Why: err.Error()})
			continue
		}
		e.Waiting = append(e.Waiting, r)
	}
	events = append(events, e.admit()...)
	for _, r := range leases {
		events = e.said(r.Lease, events)
	}
	return e.stored(events)
}

// waits reports whether a lease waits for room.
func (e *executor) waits(lease string) bool {
	return slices.ContainsFunc(e.Waiting, func(r sdk.LeaseRequest) bool { return r.Lease == lease })
}

// empty returns the same cluster without leases.
func (e *executor) empty() *executor {
	return &executor{cluster: e.cluster, state: state{Leases: map[string]*lease{}}}
}

// admit grants leases that wait, until there is no room for the next: small ones must not keep a large one waiting for
// ever.
func (e *executor) admit() (events []sdk.LeaseEvent) {
	for len(e.Waiting) > 0 && e.place(e.Waiting[0]) == nil {
		r := e.Waiting[0]
		e.Waiting = e.Waiting[1:]
		var err error
		if e.Leases[r.Lease].Agents, err = e.startAgents(r); err != nil {
			delete(e.Leases, r.Lease)
			events = append(events, sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseLost, Why: err.Error()})
			continue
		}
		events = append(events, e.granted(r.Lease))
	}
	return events
}

// stored stores the leases, and then tells of them.
func (e *executor) stored(events []sdk.LeaseEvent) error {
	if err := e.keep(); err != nil {
		return err
	}
	e.tell(events...)
	return nil
}

// said adds what is known of a lease to the events, unless they tell of it.
func (e *executor) said(lease string, events []sdk.LeaseEvent) []sdk.LeaseEvent {
	switch {
	case slices.ContainsFunc(events, func(event sdk.LeaseEvent) bool { return event.Lease == lease }):
		return events
	case e.Leases[lease] != nil:
		return append(events, e.granted(lease))
	case e.waits(lease):
		return append(events, sdk.LeaseEvent{Lease: lease, Kind: sdk.LeasePending, Why: "the nodes are full"})
	}
	return append(events, sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseLost, Why: "it is not known"})
}

func (e *executor) granted(lease string) sdk.LeaseEvent {
	event := sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseGranted}
	for _, b := range e.Leases[lease].Bundles {
		at := sdk.GrantedBundle{Node: nodeName(b.Node)}
		if b.GPU > 0 {
			at.Devices = []string{"0"}
		}
		event.Bundles = append(event.Bundles, at)
	}
	return event
}

func nodeName(n int) string { return "node-" + strconv.Itoa(n+1) }

// place puts the bundles of a lease on the first nodes with room.
func (e *executor) place(r sdk.LeaseRequest) error {
	l := &lease{Bundles: []bundle{}}
	e.Leases[r.Lease] = l
	for i, want := range r.Bundles {
		b := bundle{CPU: int(want.Get("cpu")), GPU: int(want.Get("gpu"))}
		for b.Node = range e.Nodes {
			if e.fits(r, b, want) {
				l.Bundles = append(l.Bundles, b)
				break
			}
		}
		if len(l.Bundles) <= i {
			delete(e.Leases, r.Lease) // all bundles or none
			return fmt.Errorf("no node has room for %v", want)
		}
	}
	return nil
}

// fits reports whether a bundle may be placed on its node.
func (e *executor) fits(r sdk.LeaseRequest, b bundle, want sdk.LeaseBundle) bool {
	for _, a := range want {
		if a.Name != "cpu" && a.Name != "gpu" {
			return false
		}
	}
	for _, other := range e.Leases[r.Lease].Bundles {
		same := other.Node == b.Node
		if r.Strategy == "strict_spread" && same || r.Strategy == "strict_pack" && !same {
			return false
		}
	}
	free := e.free(b.Node)
	return b.CPU <= free.CPU && b.GPU <= free.GPU
}

// free returns the free part of a node.
func (e *executor) free(node int) bundle {
	free := bundle{Node: node, CPU: e.CPU, GPU: 1}
	for _, l := range e.Leases {
		for _, b := range l.Bundles {
			if b.Node == node {
				free.CPU -= b.CPU
				free.GPU -= b.GPU
			}
		}
	}
	return free
}

// Adopt keeps the listed leases, and releases others.
func (e *executor) Adopt(_ context.Context, leases []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.adopted = true
	e.dropUnless(func(lease string) bool { return slices.Contains(leases, lease) })
	events := e.admit()
	for _, l := range leases {
		events = e.said(l, events)
	}
	return e.stored(events)
}

// Release releases leases. Others may have waited for the room.
func (e *executor) Release(_ context.Context, leases []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropUnless(func(lease string) bool { return !slices.Contains(leases, lease) })
	return e.stored(e.admit())
}

// dropUnless ends the other leases of the experiment.
func (e *executor) dropUnless(stays func(lease string) bool) {
	for lease := range e.Leases {
		if strings.HasPrefix(lease, e.prefix) && !stays(lease) {
			e.drop(lease)
		}
	}
	e.Waiting = slices.DeleteFunc(e.Waiting, func(r sdk.LeaseRequest) bool { return !stays(r.Lease) })
}

// drop ends a lease, with its agents.
func (e *executor) drop(name string) {
	if l := e.Leases[name]; l != nil {
		endAgents(l.Agents)
		delete(e.Leases, name)
	}
}

// Capacity returns the nodes.
func (e *executor) Capacity(context.Context) (nodes []sdk.ClusterNode, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := range e.Nodes {
		free := e.free(n)
		nodes = append(nodes, sdk.ClusterNode{Name: nodeName(n), Total: amounts(e.CPU, 1),
			Free: amounts(free.CPU, free.GPU)})
	}
	return nodes, nil
}

func amounts(cpu, gpu int) []sdk.Amount {
	return []sdk.Amount{{Name: "cpu", Value: float64(cpu)}, {Name: "gpu", Value: float64(gpu)}}
}
