package local

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KillLeftovers kills the processes of an experiment's trials and plugins and all their descendants,
// and returns how many it found; dir is the experiment's directory, an absolute path. A host calls it
// when it has locked the experiment and has started nothing yet, after a crash that killed an earlier
// host and its reaper (B-025).
func KillLeftovers(dir string) int { return killFamily(startedFor(dir)) }

// CountLeftovers returns how many processes KillLeftovers would find; a running host's processes count
// too.
func CountLeftovers(dir string) int { return len(family(startedFor(dir))) }

// signs identify a process: the host's mark in its environment, or its tag. A process may clear its
// environment, and a system may not allow tags.
type signs struct {
	mark func(mark string) bool
	// trial is for processes with the mark of an agent, which serves the trials of any experiment: it says whether
	// the trial with this directory is meant. The directory alone does not count, because users set its variable
	// when they run a trial's program by hand. It may be nil.
	trial func(dir string) bool
	tag   func(Tag) bool
}

// startedFor returns the signs of processes that were started for an experiment.
func startedFor(dir string) signs {
	dir = filepath.Clean(dir)
	real := canonical(dir)
	in := func(text, sign string) bool {
		return strings.HasPrefix(text, dir+sign) || strings.HasPrefix(text, real+sign)
	}
	return signs{
		mark:  func(mark string) bool { return isMark(mark) && in(mark, markSign) },
		trial: func(trial string) bool { return in(trial, "/") },
		tag:   tagOfDir(real).sameDir,
	}
}

// KillMarked kills the processes of one host: those with the mark in their environment or with its
// tag, and all their descendants. It returns how many it found.
func KillMarked(mark string) int {
	tag := TagOf(mark)
	return killFamily(signs{
		mark: func(text string) bool { return text == mark },
		tag:  func(t Tag) bool { return t == tag },
	})
}

// killTime is how long the kernel may take to end killed processes.
const killTime = 5 * time.Second

// leastLooks is the least number of looks, even if this process was stopped meanwhile.
const leastLooks = 20

// process is one process, not another that gets its number later.
type process struct {
	pid   int
	began uint64 // in ticks since the machine's start
}

// killFamily kills until two looks in a row find nothing: a new process has no environment for a
// moment. It first freezes all processes that it finds, so that they start nothing and no child gets
// another parent meanwhile. It then kills every frozen process, also one whose parent ended before it
// was frozen and that nothing else identifies.
func killFamily(marked signs) int {
	found := map[process]bool{}
	pause := time.Millisecond
	end := time.Now().Add(killTime)
	for looks, quiet := 0, 0; quiet < 2 && (looks < leastLooks || time.Now().Before(end)); looks++ {
		list := family(marked)
		if freeze(list, found) {
			continue
		}
		if kill(list)+kill(slices.Collect(maps.Keys(found))) == 0 {
			quiet++
		} else {
			quiet = 0
		}
		time.Sleep(pause) // a killed process needs a moment to be gone
		pause = min(2*pause, 50*time.Millisecond)
	}
	return len(found)
}

// freeze stops newly found processes and reports whether there were any.
func freeze(list []process, found map[process]bool) (fresh bool) {
	for _, p := range list {
		if !found[p] && p.signal(unix.SIGSTOP) {
			found[p], fresh = true, true
		}
	}
	return fresh
}

// kill returns how many had not ended yet.
func kill(list []process) (alive int) {
	for _, p := range list {
		if p.signal(unix.SIGKILL) {
			alive++
		}
	}
	return alive
}

// signal sends a signal to this process, or to none if its number has been reused, and reports whether
// it had not ended. A descriptor of a process stays valid for it only; a look after opening it tells
// which process it belongs to.
func (p process) signal(sig unix.Signal) bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if s, alive := stateOf(p.pid); !alive || s.began != p.began {
		return false
	}
	if err == nil {
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	if err != nil && err != unix.ESRCH { // an old kernel, a container that forbids it, no free descriptor
		_ = unix.Kill(p.pid, sig)
	}
	return true
}

// family lists the marked processes and their descendants.
func family(marked signs) []process { return look().family(os.Getpid(), marked.of) }

// table has every process that has not ended, by number.
type table map[int]state

// state is what the table has about a process.
type state struct {
	parent int
	began  uint64
}

// kernelThread is the flag of threads of the kernel, PF_KTHREAD.
const kernelThread = 0x00200000

// family lists the marked processes and their descendants, without self and processes that are
// members only because of self. A parent's number counts only if the parent began before its child.
// A mark counts only if the process is still there after the look at the mark.
func (t table) family(self int, marked func(process) bool) (list []process) {
	member := map[int]bool{}
	var belongs func(pid int) bool
	belongs = func(pid int) bool {
		s, alive := t[pid]
		if !alive || pid == self {
			return false
		}
		is, known := member[pid]
		if !known {
			member[pid] = false // in case the table has a cycle
			is = marked(process{pid, s.began}) || t[s.parent].began <= s.began && belongs(s.parent)
			member[pid] = is
		}
		return is
	}
	for pid, s := range t {
		if belongs(pid) {
			list = append(list, process{pid, s.began})
		}
	}
	return list
}

// look reads the table.
func look() table {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	list := make(table, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, alive := stateOf(pid); alive {
			list[pid] = s
		}
	}
	return list
}

// stateOf reads /proc/PID/stat: "PID (NAME) STATE PARENT …", where the name may contain anything; the
// 9th word has flags and the 22nd is when the process began. Threads of the kernel do not count: there
// may be many, and none belongs to anybody.
func stateOf(pid int) (s state, alive bool) {
	var room [1024]byte
	stat, err := readOf(pid, "stat", room[:0])
	if err != nil {
		return s, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return s, false
	}
	s.parent, err = strconv.Atoi(fields[1])
	if err != nil {
		return s, false
	}
	if flags, err := strconv.ParseUint(fields[6], 10, 64); err != nil || flags&kernelThread != 0 {
		return s, false
	}
	s.began, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err == nil
}

// of reports whether a process is marked.
func (s signs) of(p process) bool {
	if !s.on(p.pid) {
		return false
	}
	now, alive := stateOf(p.pid)
	return alive && now.began == p.began
}

// on looks at the process that has the number now.
func (s signs) on(pid int) bool {
	if t := tagOn(pid); t != 0 && s.tag(t) {
		return true
	}
	var room [4096]byte
	env, err := readOf(pid, "environ", room[:0])
	if err != nil { // another user's, or gone
		return false
	}
	return s.in(env)
}

// in looks at an environment.
func (s signs) in(env []byte) bool {
	hosted, inTrial := false, false
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if mark, ok := bytes.CutPrefix(v, []byte(MarkVariable+"=")); ok {
			if s.mark(string(mark)) {
				return true
			}
			hosted = hosted || isMark(string(mark))
		} else if dir, ok := bytes.CutPrefix(v, []byte("TUNEHOST_TRIAL_DIR=")); ok && s.trial != nil {
			inTrial = inTrial || s.trial(string(dir))
		}
	}
	return hosted && inTrial
}

// readOf appends a file of a process in /proc to b. There may be thousands of processes, and [os.ReadFile] needs
// twice as many system calls.
func readOf(pid int, name string, b []byte) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for {
		b = slices.Grow(b, 1)
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		default:
			b = b[:len(b)+n]
		}
	}
}
