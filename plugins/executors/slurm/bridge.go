package slurm

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/bridge"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// way returns how agents and the host are connected.
type way string

const (
	dial  way = "dial"
	stdio way = "stdio"
)

// checkConnection refuses a way that the host does not know.
func (o *options) checkConnection(x *sdk.Execution) error {
	if o.Connection == stdio && x.Host == "" {
		return option.Wrong("connection", o.Connection, "dial: this host takes no connections from executors")
	}
	return nil
}

// openConnection reads what the way needs.
func (o *options) openConnection(x *sdk.Execution) (err error) {
	if err = o.checkConnection(x); err == nil && o.Connection == stdio {
		o.salt, err = readSalt(x.Dir)
	}
	return err
}

// sockets begins the paths of the sockets of a lease's agents on their nodes, which end with the index of the
// bundle and socketName; "": they have none. Every process of a job sees the same /tmp. The paths are on no command
// line, so that no other user learns them before the agents have made their folders.
func (o *options) sockets(lease string) string {
	if o.Connection != stdio {
		return ""
	}
	return "/tmp/" + lease + "-" + o.salt.name(lease) + "."
}

const socketName = "/agent"

// noVariable is the value of srun's --export for an empty environment.
const noVariable = "NIL"

// bridges are the connections between the host and the agents of granted leases, each of which is carried by the
// standard input and output of an srun.
type bridges struct {
	host    string
	program string // on the nodes
	here    string // the program on this machine
	sum     string // of a program that is sent; "": none is
	environ []string
	pause   time.Duration // between two tries to send
	within  time.Duration // of a command that is short
	// unsent is called when the program cannot be sent to a node, by a goroutine of its own. It is set before the first
	// lease is granted.
	unsent func(lease, why string)

	mu   sync.Mutex
	stop map[string]context.CancelFunc // by lease
	all  sync.WaitGroup
}

func newBridges(x *sdk.Execution, o *options, environ []string) *bridges {
	r := &bridges{host: x.Host, environ: environ, pause: sendPause, within: o.timeout(),
		stop: map[string]context.CancelFunc{}}
	if x.Agent != nil {
		r.program, r.here, r.sum = o.programOn(x), x.Agent.Path, o.sum(x)
	}
	return r
}

// bundlePlace is where an agent runs.
type bundlePlace struct {
	job, node string
	offset    int // of the component of a heterogeneous job; -1: it is none
}

// arguments are those of a step on the node of an agent, beside it. It gets one variable, or none (NIL).
func (p *bundlePlace) arguments(variable string) []string {
	return append(p.component(), "--jobid="+p.job, "--nodelist="+p.node, "--overlap", "--nodes=1", "--ntasks=1",
		"--cpus-per-task=1", "--mem=0", "--gres=none", "--export="+variable, "--chdir=/", "--mpi=none", "--quiet",
		"--unbuffered") // else bytes wait for the end of a line
}

func (p *bundlePlace) component() []string {
	if p.offset < 0 {
		return nil
	}
	return []string{fmt.Sprint("--het-group=", p.offset)}
}

// open opens the bridges to the agents of a lease whose sockets begin with a path. It does nothing if it has done so.
func (r *bridges) open(lease, sockets string, bundles []bundlePlace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sockets == "" && r.sum == "" || r.program == "" || r.stop[lease] != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop[lease] = stop
	if r.sum != "" {
		r.sendAll(ctx, lease, bundles)
	}
	if sockets == "" {
		return
	}
	for i, at := range bundles {
		socket := sockets + strconv.Itoa(i) + socketName
		r.all.Go(func() {
			bridge.Run(ctx, bridge.Config{Host: r.host, Warn: sayer(lease, i),
				Open: func(context.Context) (io.ReadWriteCloser, error) { return r.bridge(at, socket) }})
		})
	}
}

// sendAll sends the program to the nodes of a lease.
func (r *bridges) sendAll(ctx context.Context, lease string, bundles []bundlePlace) {
	done := map[string]bool{}
	for _, at := range bundles {
		if !done[at.node] {
			r.all.Go(func() { r.send(ctx, lease, at) })
		}
		done[at.node] = true
	}
}

// bridge starts a step beside the agent's.
func (r *bridges) bridge(at bundlePlace, socket string) (io.ReadWriteCloser, error) {
	return bridge.Command(r.bridgeCommand(at, socket))
}

func (r *bridges) bridgeCommand(at bundlePlace, socket string) *exec.Cmd {
	program := []string{r.program}
	if r.sum != "" {
		program = onNode(`place && exec "$folder/agent-` + r.sum + `" "$@"`)
	}
	cmd := exec.Command("srun", slices.Concat(at.arguments(sdk.AgentSocketVariable), program,
		[]string{"agent", "bridge"})...)
	cmd.Env = append(slices.Clip(r.environ), sdk.AgentSocketVariable+"="+socket)
	return cmd
}

// sayEvery is how many failures in a row are told with one line.
const sayEvery = 20

// sayer prints failures, not all of them.
func sayer(lease string, bundle int) func(error) {
	n := 0
	return func(err error) {
		if n++; n%sayEvery == 2 { // an agent may leave while its lease ends
			fmt.Fprintf(os.Stderr, "the agent of bundle %d of the lease %s cannot be reached through srun: %v; it is "+
				"tried again\n", bundle, lease, err)
		}
	}
}

// shut closes the bridges to the agents of leases that are given back, and opens no others until close.
func (r *bridges) shut(leases []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, lease := range leases {
		if stop := r.stop[lease]; stop != nil {
			stop()
		}
		r.stop[lease] = func() {}
	}
}

// close closes the bridges to the agents of a lease.
func (r *bridges) close(lease string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop := r.stop[lease]; stop != nil {
		stop()
		delete(r.stop, lease)
	}
}

// retain closes the bridges of all leases but these.
func (r *bridges) retain(leases []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lease, stop := range r.stop {
		if !slices.Contains(leases, lease) {
			stop()
			delete(r.stop, lease)
		}
	}
}

// end closes all bridges, and waits for their ends.
func (r *bridges) end() {
	r.retain(nil)
	r.all.Wait()
}

// follows opens and closes the bridges of a lease by what is told of it.
func (r *bridges) follows(event *sdk.LeaseEvent, sockets string, at func(bundle int) bundlePlace) {
	switch event.Kind {
	case sdk.LeaseGranted:
		places := make([]bundlePlace, len(event.Bundles))
		for i, b := range event.Bundles {
			places[i] = at(i)
			places[i].node = b.Node
		}
		r.open(event.Lease, sockets, places)
	case sdk.LeaseLost, sdk.LeaseRefused:
		r.close(event.Lease)
	}
}
