package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// killFamily kills until two looks in a row find nothing: a process that is
// just being made has no environment for a moment. What is found is frozen until
// all of it is, so that nothing is started or handed to another parent meanwhile;
// and what was frozen is killed, also when its parent has ended before it was frozen
// itself, so that nothing tells any more whose it is.
func killFamily(marked signs) int {
	found := map[int]string{} // with when they began, for numbers are given out again
	pause := time.Millisecond
	end := time.Now().Add(killTime)
	for looks, quiet := 0, 0; quiet < 2 && (looks < leastLooks || time.Now().Before(end)); looks++ {
		if freeze(family(marked), found) {
			continue
		}
		if kill(family(marked))+kill(remaining(found)) == 0 {
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
func freeze(pids []int, found map[int]string) (fresh bool) {
	for _, pid := range pids {
		_, began, alive := stateOf(pid)
		if alive && found[pid] != began {
			found[pid], fresh = began, true
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	return fresh
}

// remaining are those that have not ended.
func remaining(found map[int]string) (pids []int) {
	for pid, was := range found {
		if _, began, alive := stateOf(pid); alive && began == was {
			pids = append(pids, pid)
		}
	}
	return pids
}

func kill(pids []int) int {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(pids)
}

// family lists the processes that are marked, and their descendants.
func family(marked signs) (pids []int) {
	parents := parents()
	member := map[int]bool{}
	var belongs func(pid int) bool
	belongs = func(pid int) bool {
		parent, alive := parents[pid]
		if !alive || pid == os.Getpid() {
			return false
		}
		is, known := member[pid]
		if !known {
			member[pid] = false // should the table have a circle
			is = marked.of(pid) || belongs(parent)
			member[pid] = is
		}
		return is
	}
	for pid := range parents {
		if belongs(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parents has every process that has not ended, with its parent.
func parents() map[int]int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	list := make(map[int]int, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, _, alive := stateOf(pid); alive {
			list[pid] = parent
		}
	}
	return list
}

// stateOf reads /proc/PID/stat: "PID (NAME) STATE PARENT …", where the name may
// hold anything; the 22nd word is when the process began.
func stateOf(pid int) (parent int, began string, alive bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, "", false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, fields[19], err == nil
}

func (s signs) of(pid int) bool {
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
