package reference

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The agents of a lease are processes of this machine, a process group for each bundle. They outlive the
// plugin's process: their groups are in the executor's file.

// launch starts an agent in the background. When the agent has ended, the shell creates the file $1.
const launch = `("$0" agent </dev/null >/dev/null 2>&1; : >"$1") &`

// startAgents starts an agent for each bundle of a lease, and returns their process groups.
func (e *executor) startAgents(r sdk.LeaseRequest) (groups []int, err error) {
	if e.agent == nil {
		return nil, nil
	}
	for i := range r.Bundles {
		cmd := exec.Command("/bin/sh", "-c", launch, e.agent.Path, e.ended(r.Lease, i))
		cmd.Env = append(slices.DeleteFunc(os.Environ(), ofThisProcess), sdk.AgentVariable+"="+r.Agent,
			sdk.AgentBundleVariable+"="+strconv.Itoa(i))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Run(); err != nil {
			endAgents(groups)
			return nil, err
		}
		groups = append(groups, cmd.Process.Pid)
	}
	return groups, nil
}

// ofThisProcess reports whether a variable describes the plugin's process, which an agent must not inherit.
func ofThisProcess(variable string) bool {
	return strings.HasPrefix(variable, "TUNEHOST_") || strings.HasPrefix(variable, "PLUGIN_")
}

// ended returns the path of a file that exists when an agent has ended.
func (e *executor) ended(lease string, bundle int) string {
	return filepath.Join(e.dir, fmt.Sprintf("%s.%d.ended", lease, bundle))
}

// endAgents asks agents to end.
func endAgents(groups []int) {
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGTERM) // it may have ended
	}
}

// watch reports leases as lost whose agents have ended, until the executor is closed.
func (e *executor) watch() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.loseEnded()
		case <-e.closed:
			return
		}
	}
}

func (e *executor) loseEnded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for lease, l := range e.Leases {
		for i := range l.Agents {
			if _, err := os.Stat(e.ended(lease, i)); err != nil || !e.adopted {
				continue
			}
			e.drop(lease)
			lost := sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseLost, Why: "its agent has ended"}
			_ = e.stored(append([]sdk.LeaseEvent{lost}, e.admit()...)) // what is not stored, Adopt tells
			break
		}
	}
}
