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
	leases  map[string]*lease
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
		leases: map[string]*lease{}}
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
		err = json.Unmarshal(text, &e.leases)
	}
	return err
}

// keep stores the leases before any event about them is sent.
func (e *executor) keep() error {
	text, err := json.Marshal(e.leases)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(e.file()+".new", text, 0o600), os.Rename(e.file()+".new", e.file()))
}

// Allocate grants the leases that fit, and refuses the rest.
func (e *executor) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var events []sdk.LeaseEvent
	for _, r := range leases {
		if _, twice := e.leases[r.Lease]; !twice {
			if err := e.place(r); err != nil {
				events = append(events, sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseRefused, Why: err.Error()})
				continue
			}
		}
		events = append(events, e.granted(r.Lease))
	}
	if err := e.keep(); err != nil {
		return err
	}
	e.tell(events...)
	return nil
}

func (e *executor) granted(lease string) sdk.LeaseEvent {
	event := sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseGranted}
	for _, b := range e.leases[lease].Bundles {
		at := sdk.GrantedBundle{Node: nodeName(b.Node)}
		if b.GPU > 0 {
			at.Devices = []string{"0"}
		}
		event.Bundles = append(event.Bundles, at)
	}
	return event
}

func nodeName(n int) string { return "node-" + strconv.Itoa(n+1) }

// place puts the bundles of a lease on the first nodes with room, and starts their agents.
func (e *executor) place(r sdk.LeaseRequest) (err error) {
	l := &lease{Bundles: []bundle{}}
	e.leases[r.Lease] = l
	for i, want := range r.Bundles {
		b := bundle{CPU: int(want.Get("cpu")), GPU: int(want.Get("gpu"))}
		for b.Node = range e.Nodes {
			if e.fits(r, b, want) {
				l.Bundles = append(l.Bundles, b)
				break
			}
		}
		if len(l.Bundles) <= i {
			delete(e.leases, r.Lease) // all bundles or none
			return fmt.Errorf("no node has room for %v", want)
		}
	}
	if l.Agents, err = e.startAgents(r); err != nil {
		delete(e.leases, r.Lease)
	}
	return err
}

// fits reports whether a bundle may be placed on its node.
func (e *executor) fits(r sdk.LeaseRequest, b bundle, want sdk.LeaseBundle) bool {
	for _, a := range want {
		if a.Name != "cpu" && a.Name != "gpu" {
			return false
		}
	}
	for _, other := range e.leases[r.Lease].Bundles {
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
	for _, l := range e.leases {
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
	var events []sdk.LeaseEvent
	for _, l := range leases {
		if _, ok := e.leases[l]; ok {
			events = append(events, e.granted(l))
		} else {
			events = append(events, sdk.LeaseEvent{Lease: l, Kind: sdk.LeaseLost, Why: "it is not known"})
		}
	}
	for l := range e.leases {
		if strings.HasPrefix(l, e.prefix) && !slices.Contains(leases, l) {
			e.drop(l)
		}
	}
	if err := e.keep(); err != nil {
		return err
	}
	e.tell(events...)
	return nil
}

// Release releases leases.
func (e *executor) Release(_ context.Context, leases []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range leases {
		e.drop(l)
	}
	return e.keep()
}

// drop ends a lease, with its agents.
func (e *executor) drop(name string) {
	if l := e.leases[name]; l != nil {
		endAgents(l.Agents)
		delete(e.leases, name)
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
