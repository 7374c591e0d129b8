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

// KillLeftovers kills the processes of an experiment's trials and plugins and
// all that these have started, and returns how many it found; dir is the
// experiment's directory, an absolute path. It is for a host that has locked the
// experiment and has started nothing yet: after a crash that took an earlier
// host together with its warden (B-025).
func KillLeftovers(dir string) int { return killFamily(startedFor(dir)) }

// CountLeftovers is how many processes KillLeftovers would find, or of a host
// that runs.
func CountLeftovers(dir string) int { return len(family(startedFor(dir))) }

// signs are what a process is known by: a variable of its environment, or its tag. The
// environment may be cleared, and the tag may not be allowed.
type signs struct {
	variable func(text string) bool
	tag      func(Tag) bool
}

// startedFor are the signs of what was started for an experiment.
func startedFor(dir string) signs {
	dir = filepath.Clean(dir)
	real := canonical(dir)
	in := func(text, sign string) bool {
		return strings.HasPrefix(text, dir+sign) || strings.HasPrefix(text, real+sign)
	}
	variable := func(text string) bool {
		if trial, ok := strings.CutPrefix(text, "TUNEHOST_TRIAL_DIR="); ok {
			return in(trial, "/")
		}
		mark, ok := strings.CutPrefix(text, MarkVariable+"=")
		return ok && in(mark, markSign)
	}
	return signs{variable, tagOfDir(real).sameDir}
}

// KillMarked kills the processes of one host: those that bear the mark in their
// environment or as a tag, and all that these have started. It returns how many it found.
func KillMarked(mark string) int {
	tag := TagOf(mark)
	return killFamily(signs{
		variable: func(text string) bool { return text == MarkVariable+"="+mark },
		tag:      func(t Tag) bool { return t == tag },
	})
}

// killTime is how long the kernel has to end what was killed.
const killTime = 5 * time.Second

// leastLooks are taken however long this process itself was kept from running.
const leastLooks = 20

// process is one process, as opposed to whatever else has its number later.
type process struct {
	pid   int
	began uint64 // in ticks since the machine's start
}

// killFamily kills until two looks in a row find nothing: a process that is
// just being made has no environment for a moment. What is found is frozen until
// all of it is, so that nothing is started or handed to another parent meanwhile;
// and what was frozen is killed, also when its parent has ended before it was frozen
// itself, so that nothing tells any more whose it is.
func killFamily(marked signs) int {
	found := map[process]bool{}
	pause := time.Millisecond
	end := time.Now().Add(killTime)
	for looks, quiet := 0, 0; quiet < 2 && (looks < leastLooks || time.Now().Before(end)); looks++ {
		if freeze(family(marked), found) {
			continue
		}
		if kill(family(marked))+kill(slices.Collect(maps.Keys(found))) == 0 {
			quiet++
		} else {
			quiet = 0
		}
		time.Sleep(pause) // a killed process needs a moment to be gone
		pause = min(2*pause, 50*time.Millisecond)
	}
	return len(found)
}

// freeze stops what was not found before, and says whether there was any.
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

// signal reaches this process or none, and says whether it had not ended: between the
// look that found it and the signal its number may have become another's. A
// descriptor of the process stays its own; the look after it is opened tells whose it is.
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
	if err != nil && err != unix.ESRCH { // an old kernel, a container that forbids it, no descriptor left
		_ = unix.Kill(p.pid, sig)
	}
	return true
}

// family lists the processes that are marked, and their descendants.
func family(marked signs) []process { return look().family(os.Getpid(), marked.of) }

// table has every process that has not ended, by its number.
type table map[int]state

// state is what the table tells of a process.
type state struct {
	parent int
	began  uint64
}

// family lists what is marked, and its descendants, but not self and what only self makes a
// member. A number tells a parent only if it was given out before its child was made, and
// a mark is a process's own only if that is there after the look at the mark.
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
			member[pid] = false // should the table have a circle
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

// stateOf reads /proc/PID/stat: "PID (NAME) STATE PARENT …", where the name may
// hold anything; the 22nd word is when the process began.
func stateOf(pid int) (s state, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
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
	s.began, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err == nil
}

// of says whether a process is marked.
func (s signs) of(p process) bool {
	if !s.on(p.pid) {
		return false
	}
	now, alive := stateOf(p.pid)
	return alive && now.began == p.began
}

// on looks at whatever has the number now.
func (s signs) on(pid int) bool {
	if t := tagOn(pid); t != 0 && s.tag(t) {
		return true
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil { // another user's, or gone
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if s.variable(string(v)) {
			return true
		}
	}
	return false
}
