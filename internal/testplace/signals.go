package testplace

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// LivesOn sends SIGTERM to all processes of a process group, as an engine does to those of a job, and reports an error
// for each that does not handle it. It does nothing on systems without /proc.
func LivesOn(t testing.TB, id int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return
	}
	members := group(t, id)
	for _, pid := range members {
		if !catches(t, pid, syscall.SIGTERM) {
			t.Errorf("process %d would end with SIGTERM", pid)
		}
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	if len(members) == 0 {
		t.Errorf("there is no process group %d", id)
	}
}

// group lists the processes of a process group.
func group(t testing.TB, id int) (members []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat))); len(fields) > 2 && fields[2] == strconv.Itoa(id) {
			members = append(members, pid)
		}
	}
	return members
}

// catches reports whether a process has a handler for a signal.
func catches(t testing.TB, pid int, s syscall.Signal) bool {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "SigCgt:\t")
	mask, err := strconv.ParseUint(strings.SplitN(rest, "\n", 2)[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask&(1<<(s-1)) != 0
}
