package local

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Set gives this process the tag, so that the processes that it starts inherit it, and returns a
// function that removes it. That function takes the id of the process that was started (0: none) and
// removes the tag from other children that a concurrent goroutine started in between. If the system
// does not allow tags, nothing happens.
func (t Tag) Set() (off func(pid int)) {
	var was unix.Rlimit
	if t == 0 || unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &was) != nil {
		return func(int) {}
	}
	now := unix.Rlimit{Cur: uint64(t), Max: was.Max}
	before := children()
	if now.Cur > now.Max || unix.Prlimit(0, unix.RLIMIT_RTTIME, &now, nil) != nil {
		return func(int) {}
	}
	return func(pid int) {
		_ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &was, nil)
		before[pid] = true
		t.removeFromChildren(before, was)
	}
}

// removeFromChildren removes the tag from children that must not keep it.
func (t Tag) removeFromChildren(keep map[int]bool, was unix.Rlimit) {
	for pid := range children() {
		if !keep[pid] && tagOn(pid) == t {
			_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &was, nil)
		}
	}
}

// children returns the children of this process; none if the kernel does not list them.
func children() map[int]bool {
	list := map[int]bool{}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		text, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children") // the thread may have ended
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				list[pid] = true
			}
		}
	}
	return list
}

// tagOn returns the tag of a process; 0 if it has none or belongs to another user.
func tagOn(pid int) Tag {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) != nil || limit.Cur>>48 != tagMagic {
		return 0
	}
	return Tag(limit.Cur)
}

// RemoveTag removes the tag of any host from this process. It was inherited from a process that the host
// has started, and this process is not to end with that host.
func RemoveTag() {
	var was unix.Rlimit
	if tagOn(0) == 0 || unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &was) != nil {
		return
	}
	_ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: was.Max, Max: was.Max}, nil)
}
