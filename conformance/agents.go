package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

var agentVerbs = map[string]verb{
	"start-agents": take(startsAgents), "hide-secret": plain(hidesSecret), "end-agents": plain(endsAgents),
	"lose-agent": plain(losesAgent), "keep-agents": plain(keepsAgents),
}

// agentScript is the agent that the checks give to executors. It writes into a folder what it was started
// with, and stays until it is told to end, the folder is gone, or a file there tells it to exit. Nodes
// of a cluster must see the folder.
const agentScript = `#!/bin/sh
umask 077
dir='%s'
name=$TUNEHOST_AGENT_BUNDLE,$$,$(uname -n)
trap 'echo ended >>"$dir/$name"; exit 0' TERM INT HUP
printf '%%s\n%%s\n' "$*" "$TUNEHOST_AGENT" >"$dir/.$name"
mv "$dir/.$name" "$dir/$name"
while [ -d "$dir" ] && [ ! -e "$dir/exit" ]; do
  echo >>"$dir/$name"
  sleep 0.05
done
`

// agents are the agents of a check.
type agents struct {
	dir, program string
	// value of TUNEHOST_AGENT.
	value string
	// grown is the size of what an agent has written, and since when.
	grown map[string]growth
}

type growth struct {
	size  int
	since time.Time
}

// stopped is how long an agent on another machine has written nothing when it counts as ended.
const stopped = 15 * time.Second

// checkAgents returns the agents of the check.
func (s *subject) checkAgents() (*agents, error) {
	if s.agents != nil {
		return s.agents, nil
	}
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	own, err := s.dir()
	if err != nil {
		return nil, err
	}
	s.agents = &agents{dir: own, program: filepath.Join(dir, "agent"), value: filepath.Base(own) + "-is-the-secret",
		grown: map[string]growth{}}
	return s.agents, os.WriteFile(s.agents.program, fmt.Appendf(nil, agentScript, own), 0o700)
}

// agent is one that was started.
type agent struct {
	name, bundle, args, value string
	ended                     bool
}

// list returns the agents that were started, in the order of their bundles.
func (a *agents) list() (list []agent, err error) {
	entries, err := os.ReadDir(a.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.Contains(e.Name(), ",") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(a.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, a.read(e.Name(), string(text)))
	}
	return list, err
}

func (a *agents) read(name, text string) agent {
	lines := strings.Split(text, "\n")
	fields := strings.SplitN(name, ",", 3)
	x := agent{name: name, bundle: fields[0], args: lines[0], value: lines[1], ended: slices.Contains(lines, "ended")}
	if g := a.grown[name]; g.size != len(text) {
		a.grown[name] = growth{len(text), time.Now()}
	} else if time.Since(g.since) > stopped {
		x.ended = true
	}
	if here, err := os.Hostname(); err == nil && here == fields[2] && gone(fields[1]) {
		x.ended = true
	}
	return x
}

// gone reports whether a process of this machine has ended.
func gone(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
		return true
	}
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, _ := strings.Cut(string(text), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}

// await waits until the agents are as wanted.
func (d *executorHost) await(waiting string, as func([]agent) bool) ([]agent, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := d.agents.list()
		if err != nil || as(list) {
			return list, err
		}
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			return nil, wanted(waiting, "%s until the deadline", described(list))
		}
	}
}

func described(list []agent) string {
	running, ended := 0, 0
	for _, a := range list {
		if a.ended {
			ended++
		} else {
			running++
		}
	}
	return fmt.Sprintf("%d agents that run and %d that have ended", running, ended)
}

// awaitEnds waits until all agents have ended, and checks that there were no others than these.
func (d *executorHost) awaitEnds(these []agent) error {
	list, err := d.await("Release to end the agents", func(list []agent) bool {
		return !slices.ContainsFunc(list, func(a agent) bool { return !a.ended })
	})
	if err == nil && !slices.Equal(namesOf(list), namesOf(these)) {
		err = wanted(fmt.Sprintf("no agents but the first %d", len(these)), "%d", len(list))
	}
	return err
}

func namesOf(list []agent) (names []string) {
	for _, a := range list {
		names = append(names, a.name)
	}
	return names
}

// runOn checks for a while that these agents run on and that there are no others: one that an executor starts
// takes a moment.
func (d *executorHost) runOn(these []agent) error {
	for range readings {
		now, err := d.agents.list()
		if err != nil {
			return err
		}
		if !slices.Equal(now, these) {
			return wanted("the agents of the adopted lease to run on, and no others", "%s", described(now))
		}
		select {
		case <-time.After(readingEvery):
		case <-d.ctx.Done():
			return d.ctx.Err()
		}
	}
	return nil
}

// agentHost returns a host in a directory with a granted lease whose agents run.
func (s *subject) agentHost(dir string, bundles int) (d *executorHost, lease sdk.LeaseEvent, list []agent, err error) {
	if d, err = s.executorHostAt(dir, checkPrefix, agency); err != nil {
		return nil, lease, nil, err
	}
	if err := d.executor.Adopt(s.ctx, nil); err != nil {
		return nil, lease, nil, err
	}
	if !d.executor.Traits().Gangs {
		bundles = 1
	}
	granted, err := d.take(d.lease(1, bundles, sdk.Amount{Name: "cpu", Value: 1}))
	if err != nil {
		return nil, lease, nil, err
	}
	list, err = d.await(fmt.Sprintf("%d agents in %s, which nodes must see", bundles, d.agents.dir),
		func(list []agent) bool { return len(list) >= bundles })
	return d, granted[0], list, err
}

// withAgents is agentHost in a new directory, with agents for one bundle.
func (s *subject) withAgents() (d *executorHost, lease sdk.LeaseEvent, list []agent, err error) {
	dir, err := s.dir()
	if err != nil {
		return nil, lease, nil, err
	}
	return s.agentHost(dir, 1)
}

func startsAgents(s *subject, w struct{ Bundles int }) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	d, _, list, err := s.agentHost(dir, w.Bundles)
	if err != nil {
		return err
	}
	for i, a := range list {
		switch {
		case a.args != "agent":
			return wanted("the program with the argument agent", "%q", a.args)
		case a.value != d.agents.value:
			return wanted(sdk.AgentVariable+" as the host gave it", "%q", a.value)
		case a.bundle != strconv.Itoa(i):
			return wanted(fmt.Sprintf("%s=%d for the agent of bundle %d", sdk.AgentBundleVariable, i, i), "%q",
				a.bundle)
		}
	}
	return nil
}

func hidesSecret(s *subject) error {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return inapplicable("command lines of other processes cannot be read on this machine")
	}
	dir, err := s.dir()
	if err != nil {
		return err
	}
	a, err := s.checkAgents()
	if err != nil {
		return err
	}
	done, shown := make(chan struct{}), make(chan error, 1)
	go func() { shown <- a.watchCommandLines(done) }()
	_, _, _, err = s.agentHost(dir, 1)
	close(done)
	if err := errors.Join(err, <-shown); err != nil {
		return err
	}
	return a.checkFiles(dir)
}

// watchCommandLines looks for the value on the command line of any process until done is closed.
func (a *agents) watchCommandLines(done chan struct{}) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for last := false; ; {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return err
		}
		for _, path := range lines {
			if text, _ := os.ReadFile(path); strings.Contains(string(text), a.value) { // it may have ended
				return wanted(sdk.AgentVariable+" on no command line", "%q",
					strings.ReplaceAll(string(text), "\x00", " "))
			}
		}
		if last {
			return nil
		}
		select {
		case <-tick.C:
		case <-done:
			last = true
		}
	}
}

// checkFiles checks that no file of the executor that other users can read has the value.
func (a *agents) checkFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return nil // it was removed
		case e.IsDir() && path != dir && info.Mode()&0o011 == 0:
			return fs.SkipDir
		case !e.Type().IsRegular() || info.Mode()&0o044 == 0:
			return nil
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), a.value) {
			return wanted(sdk.AgentVariable+" in no file that others can read", "%s (%v)", filepath.Base(path),
				info.Mode())
		}
		return nil
	})
}

func endsAgents(s *subject) error {
	d, lease, list, err := s.withAgents()
	if err != nil {
		return err
	}
	if err := d.executor.Release(s.ctx, []string{lease.Lease}); err != nil {
		return err
	}
	return d.awaitEnds(list)
}

func losesAgent(s *subject) error {
	d, lease, _, err := s.withAgents()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.agents.dir, "exit"), nil, 0o600); err != nil {
		return err
	}
	e, err := d.settled(lease.Lease)
	if err == nil && e.Kind != sdk.LeaseLost {
		err = wanted("LOST: its agent has ended", "%s", cmp.Or(e.Kind.String(), "nothing"))
	}
	return err
}

func keepsAgents(s *subject) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	d, lease, list, err := s.agentHost(dir, 1)
	if err != nil {
		return err
	}
	if d, err = d.again(dir); err != nil {
		return err
	}
	if err := d.checkUnchanged(lease); err != nil {
		return err
	}
	if err := d.runOn(list); err != nil {
		return err
	}
	if err := d.executor.Release(s.ctx, []string{lease.Lease}); err != nil {
		return err
	}
	return d.awaitEnds(list)
}
