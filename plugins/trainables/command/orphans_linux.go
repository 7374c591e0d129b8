package command

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// When the parent of a process that left its group (setsid, double fork) ends, this process adopts
// it, because it is a child subreaper. The kernel assigns it to the first thread, so one small file
// lists all of them.

// children are the programs that this process started itself.
var children = childTable{known: map[int]bool{}, servers: map[int]bool{}, suspects: map[int]bool{}}

type childTable struct {
	mu       sync.Mutex
	known    map[int]bool
	servers  map[int]bool // those of known that are no trial: warm interpreters
	suspects map[int]bool // unknown and dead at the last look
}

func (c *childTable) forget(pid int, reap func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reap()
	delete(c.known, pid)
	delete(c.servers, pid)
}

// warm says that a program that was started is no trial.
func (c *childTable) warm(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[p.pid] {
		c.servers[p.pid] = true
	}
}

const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER

func adoptOrphans() {
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	if e == 0 {
		go buryOrphans()
	}
}

// buryOrphans reaps adopted processes that ended during long trials. Other code that started a
// child in this process waits for it, so only a process that is still dead at the second look is an
// orphan.
func buryOrphans() {
	for range time.Tick(10 * time.Second) {
		children.bury()
	}
}

func (c *childTable) bury() {
	c.mu.Lock()
	defer c.mu.Unlock()
	suspects := map[int]bool{}
	for _, pid := range c.orphans() {
		if !isZombie(pid) {
			continue
		}
		if c.suspects[pid] {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			continue
		}
		suspects[pid] = true
	}
	c.suspects = suspects
}

// orphans returns the children of the first thread that were not started here.
func (c *childTable) orphans() []int {
	list, err := os.ReadFile(childrenFile())
	if err != nil || len(list) == 0 {
		return nil
	}
	var pids []int
	for _, f := range strings.Fields(string(list)) {
		if pid, err := strconv.Atoi(f); err == nil && !c.known[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}

var childrenFile = sync.OnceValue(func() string {
	return fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())
})

// leftovers describes how to recognise a trial's processes.
type leftovers struct {
	group   int // the program's process group
	trialID string
	dir     string
	killed  map[int]bool
}

// killLeftovers kills the remaining processes of a trial whose program has ended, and waits for
// their end; children of killed processes are adopted and killed too. The group's own members were
// killed, but may not be gone yet.
func killLeftovers(group int, trialID, dir string) {
	l := leftovers{group, trialID, dir, map[int]bool{}}
	pause := time.Millisecond
	end := time.Now().Add(5 * time.Second)
	for looks := 0; looks < leastLooks || time.Now().Before(end); looks++ {
		if children.kill(&l) == 0 && syscall.Kill(-group, 0) == syscall.ESRCH {
			return
		}
		time.Sleep(pause) // a killed process needs a moment to end
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// leastLooks is the minimum number of looks, however long this process itself was suspended.
const leastLooks = 20

// kill returns the number of processes found. Processes that ended meanwhile may have left others,
// so only a look that finds none is the last.
func (c *childTable) kill(l *leftovers) (found int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	alone := len(c.known) == len(c.servers) && dedicated() // then every process belongs to a trial
	for _, pid := range c.orphans() {
		if !alone && !l.killed[pid] && !l.owns(pid) {
			continue
		}
		l.killed[pid] = true
		killAll(pid)
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		found++
	}
	return found
}

// dedicated reports whether this process is only a plugin. A program that runs the trainable in its
// own process starts other children, which look like orphans if its first thread started them.
func dedicated() bool { return os.Getenv(serve.CookieKey) == serve.CookieValue }

// killAll kills a process and, if it leads one, its group.
func killAll(pid int) {
	if group, err := syscall.Getpgid(pid); err == nil && group == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// owns reports whether an adopted process belonged to the trial. Dead processes have no
// environment, but still a group.
func (l *leftovers) owns(pid int) bool {
	if group, err := syscall.Getpgid(pid); err == nil && group == l.group {
		return true
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err == nil && hasVariable(env, "TUNEHOST_TRIAL_ID="+l.trialID) {
		return true
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && (cwd == l.dir || strings.HasPrefix(cwd, l.dir+"/"))
}

func hasVariable(environ []byte, kv string) bool {
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if string(v) == kv {
			return true
		}
	}
	return false
}

// isZombie reports whether a process has ended and waits to be reaped.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
