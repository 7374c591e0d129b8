package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Wear gives this process the tag, which all that it starts inherits, and returns what
// takes it off again. That is told the process for whose sake it was worn (0: none has come
// of it): other children that another goroutine has started in between lose the tag, so that
// nobody takes them for the host's. Where the system does not allow it, nothing happens.
func (t Tag) Wear() (off func(pid int)) {
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
		t.wash(before, was)
	}
}

// wash takes the tag from children that are not to keep it.
func (t Tag) wash(keep map[int]bool, was unix.Rlimit) {
	for pid := range children() {
		if !keep[pid] && tagOn(pid) == t {
			_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &was, nil)
		}
	}
}

// children are those of this process; none where the kernel does not list them.
func children() map[int]bool {
	list := map[int]bool{}
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, file := range files {
		text, _ := os.ReadFile(file) // the thread may have ended
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				list[pid] = true
			}
		}
	}
	return list
}

// tagOn is the tag of a process, 0 where it has none or is another user's.
func tagOn(pid int) Tag {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) != nil || limit.Cur>>48 != tagMagic {
		return 0
	}
	return Tag(limit.Cur)
}
