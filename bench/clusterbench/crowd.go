package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// crowdPlugin is an executor whose agents are all in its own process: a thousand processes of agents would take most of
// the machine, and what is measured is the host.
var crowdPlugin = sdk.ExecutorPlugin{
	Info: sdk.Info{Name: "crowd", Version: "1.0.0", Summary: "Agents in one process, for measurements."},
	Open: func(x sdk.Execution, _ []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
		c := &crowdExecutor{dir: x.Dir, binary: x.Agent.Path, tell: tell, leases: map[string]context.CancelFunc{}}
		return c, sdk.ExecutorTraits{Agents: true}, nil
	},
}

// realProgram is a variable with the program that this one becomes: agents start the bundled plugins in their own
// program, which is tunehost elsewhere.
const realProgram = "CLUSTERBENCH_PROGRAM"

type crowdExecutor struct {
	dir    string
	binary string // tunehost
	tell   func(...sdk.LeaseEvent)
	mu     sync.Mutex
	leases map[string]context.CancelFunc
}

// Allocate implements sdk.Executor.
func (c *crowdExecutor) Allocate(_ context.Context, leases []sdk.LeaseRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range leases {
		r := &leases[i]
		if c.leases[r.Lease] != nil {
			continue
		}
		if err := c.join(r); err != nil {
			return err
		}
		c.tell(sdk.LeaseEvent{Lease: r.Lease, Kind: sdk.LeaseGranted, Bundles: []sdk.GrantedBundle{{Node: r.Lease}}})
	}
	return nil
}

// join starts the agent of a lease.
func (c *crowdExecutor) join(r *sdk.LeaseRequest) error {
	ticket, err := link.ParseTicket(r.Agent)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.leases[r.Lease] = cancel
	a := agent.New(agent.Options{Mark: local.NewMark(c.dir), Environ: append(os.Environ(), realProgram+"="+c.binary),
		Dir: c.dir})
	l := link.Agent{Ticket: ticket, Log: func(string) {}, Clock: clock.System{},
		Serve: func(_ context.Context, s link.Session) error {
			_ = a.Serve(s) // its end is the session's
			return nil
		}}
	go func() {
		_ = l.Run(ctx) // the host notices its end
		a.Close()
	}()
	return nil
}

// Adopt implements sdk.Executor.
func (c *crowdExecutor) Adopt(_ context.Context, leases []string) error {
	for _, name := range leases {
		c.tell(sdk.LeaseEvent{Lease: name, Kind: sdk.LeaseLost, Why: "agents end with their process"})
	}
	return nil
}

// Release implements sdk.Executor.
func (c *crowdExecutor) Release(_ context.Context, leases []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range leases {
		if end := c.leases[name]; end != nil {
			end()
			delete(c.leases, name)
		}
	}
	return nil
}

// quietFor is how long trials are silent before they report: until all of them have started, and busyFor.
func quietFor(n int) time.Duration { return 2*busyFor + time.Duration(n)*70*time.Millisecond }

const crowdFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 60, start_delay: %.0f, sleep: 1, any_params: true, saves: false}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
concurrency: %[2]d
resources: {cpu: 1}
executor: {plugin: %[3]s}
stop_grace: 1s
`

// crowd measures the host of 1,000 leases with a trial each, while they are silent, and while each reports once a
// second.
func crowd(b *bench) (row, error) {
	n := b.times(1000)
	self, err := os.Executable()
	if err != nil {
		return row{}, err
	}
	e, err := b.start(fmt.Sprintf(crowdFile, quietFor(n).Seconds(), n, self))
	if err != nil {
		return row{}, err
	}
	defer e.stop()
	if err := e.has(n, "lease_granted"); err != nil {
		return row{}, err
	}
	time.Sleep(quietFor(n) - 2*busyFor) // processes start
	silent, memory, err := e.busy()
	if err != nil {
		return row{}, err
	}
	if err := e.has(n, "attempt_started"); err != nil { // with the first results
		return row{}, err
	}
	reporting, most, err := e.busy()
	return row{fmt.Sprintf("the host of %d leases with a trial each", n),
		fmt.Sprintf("silent %.1f %% of a core, %d MiB; one result a second each %.1f %%, %d MiB", silent, memory>>20,
			reporting, most>>20), "–"}, err
}

// has waits until the record has so many events of a kind.
func (e *experiment) has(n int, kind string) error {
	return until(fmt.Sprint(n, " events ", kind), func() (bool, error) {
		time.Sleep(time.Second)
		if _, err := os.Stat(filepath.Join(e.dir, "journal")); err != nil {
			return false, nil // it has not begun its record yet
		}
		list, err := e.events(kind)
		return len(list) >= n, err
	})
}

// busyFor is how long the host is watched.
const busyFor = 10 * time.Second

// busy is the share of a processor that the host takes, and its memory.
func (e *experiment) busy() (percent float64, memory int64, err error) {
	before, _, err := usage(e.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(busyFor)
	after, memory, err := usage(e.cmd.Process.Pid)
	return 100 * (after - before).Seconds() / busyFor.Seconds(), memory, err
}

// usage returns a process's CPU time and resident bytes.
func usage(pid int) (cpu time.Duration, memory int64, err error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var ticks [2]int64
	fields := strings.Fields(rest)
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	return time.Duration(ticks[0]+ticks[1]) * 10 * time.Millisecond, pages * int64(os.Getpagesize()), err
}
