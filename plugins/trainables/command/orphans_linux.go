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

// Processes that leave their group (setsid, double fork) are handed to this
// process when their parent ends, because it is a child subreaper. The kernel
// hands them to its first thread, so one small file lists them.

// children are the programs that this process started itself.
var children = childTable{known: map[int]bool{}, suspects: map[int]bool{}}

type childTable struct {
	mu       sync.Mutex
	known    map[int]bool
	suspects map[int]bool // unknown and dead at the last look
}

func (c *childTable) forget(pid int, reap func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reap()
	delete(c.known, pid)
}

const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER

func adoptOrphans() {
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	if e == 0 {
		go buryOrphans()
	}
}

// buryOrphans reaps adopted processes that ended by themselves during long
// trials. Whoever else started a child in this process waits for it, so only
// what is still dead at the second look is nobody's.
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

// orphans are the children of the first thread that were not started here.
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

// leftovers says what a trial's processes can be known by.
type leftovers struct {
	group   int // the program's process group
	trialID string
	dir     string
	killed  map[int]bool
}

// killLeftovers kills what is left of a trial whose program has ended, and
// waits for its end; children of the killed are adopted then, and killed in
// turn. The group's own members have been killed, but may not be gone yet.
func killLeftovers(group int, trialID, dir string) {
	l := leftovers{group, trialID, dir, map[int]bool{}}
	pause := time.Millisecond
	end := time.Now().Add(5 * time.Second)
	for looks := 0; looks < leastLooks || time.Now().Before(end); looks++ {
		if children.kill(&l) == 0 && syscall.Kill(-group, 0) == syscall.ESRCH {
			return
		}
		time.Sleep(pause) // a killed process needs a moment to be gone
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// leastLooks are taken however long this process itself was kept from running.
const leastLooks = 20

// kill returns how many processes it found. Those that are gone now may have
// left others, so only a look that finds none is the last.
func (c *childTable) kill(l *leftovers) (found int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	alone := len(c.known) == 0 && dedicated() // then whatever there is was some trial's
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

// dedicated says that this process is a plugin's and nothing else. A program that runs the
// trainable in its own process starts children of its own, which look like orphans if its
// first thread has started them.
func dedicated() bool { return os.Getenv(serve.CookieKey) == serve.CookieValue }

// killAll kills a process and, if it leads one, its group.
func killAll(pid int) {
	if group, err := syscall.Getpgid(pid); err == nil && group == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// owns says whether an adopted process was the trial's. The dead have no
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

// isZombie says whether a process has ended and waits to be reaped.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
