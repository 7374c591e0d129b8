package fake

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/internal/plainfile"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// With the option agents, each bundle of a granted lease is a process of this machine, as it is a process
// of a node on a real cluster. It outlives the plugin's process, and the cluster's file has it. The
// processes share the fate of their node: those of a lost node are killed, and those of a node that is cut
// off are stopped, so that the host hears nothing from them while the processes that they have started
// continue.

// process is an agent.
type process struct {
	PID int `json:"pid"`
	// Began is when the process started, as the kernel counts; another process with its number has another.
	Began string `json:"began,omitempty"`
	Node  int    `json:"node"`
	// Cut is until when its node is cut off, KillAt when it is killed if it has not ended; 0: never.
	Cut    int64 `json:"cut,omitempty"`
	KillAt int64 `json:"kill_at,omitempty"`
}

const (
	// killAfter is how long an agent may take to end.
	killAfter = 5 * time.Second
	// checkEvery is how often processes are looked at.
	checkEvery = time.Second
)

// tend starts the agents of leases that were granted, ends those of leases that are over, and takes away
// leases whose agents have ended. It reports whether it changed the cluster.
func (e *executor) tend(c *cluster, now int64) (changed bool) {
	if !e.Agents {
		return false
	}
	for name, l := range c.Leases {
		if l.Prefix == e.prefix && l.holds() && e.adopted && c.Agents[name] == nil {
			c.start(e, name, l)
			changed = true
		}
	}
	if now-e.tended < int64(checkEvery) && !changed && !c.over(e.prefix) {
		return false
	}
	e.tended = now
	for name, list := range c.Agents {
		if strings.HasPrefix(name, e.prefix) && c.tendLease(name, list, now) {
			changed = true
		}
	}
	return changed
}

// over reports whether there are agents of leases that are over and were not told to end.
func (c *cluster) over(prefix string) bool {
	for name, list := range c.Agents {
		l := c.Leases[name]
		if strings.HasPrefix(name, prefix) && (l == nil || !l.holds()) &&
			slices.ContainsFunc(list, func(p process) bool { return p.KillAt == 0 }) {
			return true
		}
	}
	return false
}

// start starts the agents of a lease.
func (c *cluster) start(e *executor, name string, l *lease) {
	list := []process{}
	for i := range l.Places {
		p, err := e.startAgent(l, i)
		if err != nil {
			l.lose("its agent cannot be started: " + err.Error())
			break
		}
		list = append(list, p)
	}
	if c.Agents == nil {
		c.Agents = map[string][]process{}
	}
	c.Agents[name] = list
}

// launch starts an agent that is no child of this process: what kills the plugin's process and its children
// when the host has died must not find it. It prints the agent's process id.
const launch = `"$0" agent </dev/null >>"$1" 2>&1 & echo $!`

// startAgent starts the agent of one bundle.
func (e *executor) startAgent(l *lease, bundle int) (process, error) {
	at := l.Places[bundle]
	log, err := e.agentLog(l.Request.Lease, bundle)
	if err != nil {
		return process{}, err
	}
	cmd := exec.Command("/bin/sh", "-c", launch, e.agent.Path, log)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ours), sdk.AgentVariable+"="+l.Request.Agent,
		sdk.AgentBundleVariable+"="+strconv.Itoa(bundle), "CUDA_VISIBLE_DEVICES="+at.devices())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err != nil {
		return process{}, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	return process{PID: pid, Began: began(pid), Node: at.Node}, err
}

// ours matches variables of this plugin's process. With some of them, an agent would be mistaken
// for a process of the host.
func ours(variable string) bool {
	return strings.HasPrefix(variable, "TUNEHOST_") || strings.HasPrefix(variable, "PLUGIN_")
}

func (p place) devices() string {
	list := make([]string, len(p.GPUs))
	for i, gpu := range p.GPUs {
		list[i] = strconv.Itoa(gpu)
	}
	return strings.Join(list, ",")
}

// agentLog is a file for the output of an agent, like the output of a job.
func (e *executor) agentLog(lease string, bundle int) (string, error) {
	root, err := plainfile.Private(filepath.Join(e.dir, agentDir))
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	f, err := plainfile.In(root, fmt.Sprintf("%s.%d.log", lease, bundle), os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// checkAgentDir refuses a folder that agents cannot have for their output.
func checkAgentDir(dir string) error {
	root, err := plainfile.Private(filepath.Join(dir, agentDir))
	if err != nil {
		return err
	}
	return root.Close()
}

// agentDir has the output of the agents of an experiment.
const agentDir = ".fake-agents"

// tendLease starts and ends the agents of a lease.
func (c *cluster) tendLease(name string, list []process, now int64) (changed bool) {
	l := c.Leases[name]
	over := l == nil || !l.holds()
	left := make([]process, 0, len(list))
	for _, p := range list {
		switch {
		case !p.alive():
			changed = true
			if !over {
				l.lose(fmt.Sprintf("its agent on the node %s has ended", nodeName(p.Node)))
				over = true
			}
			continue
		case p.Cut > now: // nobody reaches it
		case p.Cut > 0:
			p.signal(syscall.SIGCONT)
			p.Cut, changed = 0, true
		}
		if over && p.Cut == 0 {
			changed = p.end(now) || changed
		}
		left = append(left, p)
	}
	c.Agents[name] = left
	if len(left) == 0 && (l == nil || !l.holds()) {
		delete(c.Agents, name)
		changed = true
	}
	return changed
}

// end asks a process to end, and kills it after a while.
func (p *process) end(now int64) (changed bool) {
	switch {
	case p.KillAt == 0:
		p.signal(syscall.SIGTERM)
		p.KillAt = now + int64(killAfter)
		return true
	case p.KillAt <= now:
		p.signal(syscall.SIGKILL)
	}
	return false
}

// killNode kills the agents of a node, as if it had lost its power.
func (c *cluster) killNode(node int) {
	c.agentsOn(node, func(p *process) { p.signal(syscall.SIGKILL) })
}

// cutNode stops the agents of a node until a time.
func (c *cluster) cutNode(node int, until int64) {
	c.agentsOn(node, func(p *process) {
		p.signal(syscall.SIGSTOP)
		p.Cut = until
	})
}

func (c *cluster) agentsOn(node int, f func(*process)) {
	for _, list := range c.Agents {
		for i := range list {
			if list[i].Node == node && list[i].alive() {
				f(&list[i])
			}
		}
	}
}

// alive reports whether the process runs, and is the one that was started.
func (p *process) alive() bool {
	err := syscall.Kill(p.PID, 0)
	if p.PID <= 1 || err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	now := began(p.PID)
	return now == p.Began
}

func (p *process) signal(s syscall.Signal) {
	if p.alive() {
		_ = syscall.Kill(p.PID, s) // it may have ended
	}
}

// began is when a process started, in the words of the kernel; "" if that is not known, or if it has ended
// and nobody has asked how.
func began(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(text), ") ") // its name may have anything
	fields := strings.Fields(rest)
	if err != nil || !found || len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}
