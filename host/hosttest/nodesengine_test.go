package hosttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// nodes is an executor whose engine is the test's: see nodesEngine.
var nodes = sdk.ExecutorPlugin{
	Info: sdk.Info{Name: "nodes", Version: "1.0.0", Summary: "Nodes of a test.", Options: []byte(
		`{"type": "object", "properties": {"engine": {"type": "string"}}}`)},
	Open: func(x sdk.Execution, options []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits,
		error) {
		var o struct{ Engine string }
		if err := json.Unmarshal(options, &o); err != nil {
			return nil, sdk.ExecutorTraits{}, err
		}
		e := &nodesExecutor{x: x, engine: o.Engine, tell: tell, told: map[string]bool{}}
		go e.follow()
		return e, sdk.ExecutorTraits{Gangs: true, Agents: true}, nil
	},
}

type nodesExecutor struct {
	x      sdk.Execution
	engine string
	tell   func(...sdk.LeaseEvent)
	mu     sync.Mutex
	told   map[string]bool // leases that are granted
}

// order is what an executor wants from the engine.
type order struct {
	Start   *sdk.LeaseRequest
	Path    string
	Release string
}

// call has the engine do something, and returns the leases that it has.
func (e *nodesExecutor) call(o order) (leases map[string]int, err error) {
	conn, err := net.Dial("unix", e.engine)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(o); err != nil {
		return nil, err
	}
	return leases, json.NewDecoder(conn).Decode(&leases)
}

func (e *nodesExecutor) follow() {
	for ; ; time.Sleep(20 * time.Millisecond) {
		e.mu.Lock()
		leases, err := e.call(order{})
		for name := range e.told {
			if _, there := leases[name]; err == nil && !there {
				delete(e.told, name)
				e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost, Why: "an agent has ended"})
			}
		}
		e.mu.Unlock()
	}
}

// grant tells of a lease. e.mu is held.
func (e *nodesExecutor) grant(name string, bundles int) {
	event := sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseGranted}
	for i := range bundles {
		event.Bundles = append(event.Bundles, sdk.GrantedBundle{Node: fmt.Sprint("node", i), Address: "127.0.0.1"})
	}
	e.told[name] = true
	e.tell(event)
}

func (e *nodesExecutor) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range leases {
		if _, err := e.call(order{Start: &r, Path: e.x.Agent.Path}); err != nil {
			return err
		}
		e.grant(r.Lease, len(r.Bundles))
	}
	return nil
}

func (e *nodesExecutor) Adopt(_ context.Context, names []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	leases, err := e.call(order{})
	if err != nil {
		return err
	}
	for _, name := range names {
		if n, there := leases[name]; there {
			e.grant(name, n)
		} else {
			e.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost, Why: "there is no such lease"})
		}
		delete(leases, name)
	}
	for name := range leases {
		if _, err := e.call(order{Release: name}); err != nil {
			return err
		}
	}
	return nil
}

func (e *nodesExecutor) Release(_ context.Context, names []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		delete(e.told, name)
		if _, err := e.call(order{Release: name}); err != nil {
			return err
		}
	}
	return nil
}

// nodesEngine is an engine with any number of nodes, all of them this machine. Its agents do not end with
// the host.
type nodesEngine struct {
	t      testing.TB
	socket string
	hidden string // a folder that nodes do not see; "": they see all
	apart  string // a temporary directory of which each node has its own; "": they share that of this machine
	env    []string
	proxy  *proxy // what is between agents and the host; nil: nothing
	mu     sync.Mutex
	leases map[string][]*exec.Cmd
	begun  int // agents
	busy   sync.WaitGroup
}

func newEngine(t testing.TB) *nodesEngine {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	e := &nodesEngine{t: t, socket: filepath.Join(dir, "s"), leases: map[string][]*exec.Cmd{}}
	l, err := net.Listen("unix", e.socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			e.serve(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		e.mu.Lock()
		for name := range e.leases {
			e.release(name)
		}
		e.mu.Unlock()
		e.busy.Wait()
		_ = os.RemoveAll(dir)
	})
	return e
}

func (e *nodesEngine) serve(conn net.Conn) {
	defer conn.Close()
	var o order
	if json.NewDecoder(conn).Decode(&o) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if o.Start != nil && e.leases[o.Start.Lease] == nil {
		for i := range o.Start.Bundles {
			e.start(o, i)
		}
	}
	if o.Release != "" {
		e.release(o.Release)
	}
	leases := map[string]int{}
	for name, agents := range e.leases {
		leases[name] = len(agents)
	}
	_ = json.NewEncoder(conn).Encode(leases)
}

// start starts the agent of a bundle. When one ends, the lease ends. e.mu is held.
func (e *nodesEngine) start(o order, bundle int) {
	cmd := exec.Command(o.Path, "agent")
	if e.hidden != "" {
		cmd = exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs none "$0" && exec "$1" agent`, e.hidden, o.Path)
	}
	temp := os.TempDir()
	if e.apart != "" {
		temp = e.apart
		cmd = exec.Command("unshare", "-m", "sh", "-c",
			`mount -t tmpfs none "$0" && mount -t tmpfs none "$1" && exec "$2" agent`, e.hidden, e.apart, o.Path)
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + temp,
		"NODE=" + strconv.Itoa(bundle), sdk.AgentVariable + "=" + e.proxy.ticket(e.t, o.Start.Agent),
		sdk.AgentBundleVariable + "=" + strconv.Itoa(bundle)}
	cmd.Env = append(cmd.Env, e.env...)
	cmd.Stderr = &lineLog{e.t}
	if err := cmd.Start(); err != nil {
		e.t.Error(err)
		return
	}
	name := o.Start.Lease
	e.leases[name] = append(e.leases[name], cmd)
	e.begun++
	e.busy.Go(func() {
		_ = cmd.Wait()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.release(name)
	})
}

// release ends the agents of a lease. e.mu is held.
func (e *nodesEngine) release(name string) {
	for _, cmd := range e.leases[name] {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	delete(e.leases, name)
}

// kill kills the agent of the first bundle of each lease.
func (e *nodesEngine) kill() (killed int) { return e.signal(0, syscall.SIGKILL) }

// signal sends a signal to the agent of a bundle of each lease.
func (e *nodesEngine) signal(bundle int, s os.Signal) (sent int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, agents := range e.leases {
		_ = agents[bundle].Process.Signal(s)
		sent++
	}
	return sent
}

// held is how many leases there are.
func (e *nodesEngine) held() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.leases)
}

type lineLog struct{ t testing.TB }

func (l *lineLog) Write(b []byte) (int, error) {
	l.t.Logf("agent: %s", b)
	return len(b), nil
}
