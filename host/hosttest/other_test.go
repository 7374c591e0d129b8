package hosttest_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// nobody is a user without rights.
const nobody = 65534

// B-137: another user of a node reads neither the environment nor the files of an agent and its processes, and
// cannot connect to their sockets.
func TestOtherUserOfANode(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become another user: NOT TESTED")
	}
	toolchain.Programs(t, "sh", "find")
	x, e := onNodes(t, long)
	p := x.start(t)
	x.awaitResults(t, p, 3)
	pids := family(t, e.pids())
	if len(pids) < 2 {
		t.Fatalf("the agents have %d processes", len(pids))
	}
	seen := asNobody(t, `id -u; for pid in `+strings.Join(pids, " ")+`; do
		cat /proc/$pid/environ; ls /proc/$pid/fd; ls /proc/$pid/cwd/; done 2>/dev/null`)
	if seen != fmt.Sprintln(nobody) {
		t.Errorf("another user sees %q", seen)
	}
	list := sockets(t, pids)
	if len(list) == 0 {
		t.Error("no process has a socket with a path")
	}
	for _, path := range list {
		if out := asNobody(t, `[ -w "`+path+`" ] && echo yes; ls -a "`+filepath.Dir(path)+`" 2>/dev/null`); out != "" {
			t.Errorf("another user reaches %s: %q", path, out)
		}
	}
	p.signal(t, syscall.SIGINT)
	<-p.exit
}

// pids are the processes of all agents.
func (e *nodesEngine) pids() (list []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, agents := range e.leases {
		for _, cmd := range agents {
			list = append(list, fmt.Sprint(cmd.Process.Pid))
		}
	}
	return list
}

// family adds the descendants of processes.
func family(t *testing.T, pids []string) []string {
	t.Helper()
	for i := 0; i < len(pids); i++ {
		found, err := filepath.Glob("/proc/" + pids[i] + "/task/*/children")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, _ := os.ReadFile(path) // the thread may have ended
			pids = append(pids, strings.Fields(string(text))...)
		}
	}
	return pids
}

// sockets are the paths of unix sockets on which processes listen.
func sockets(t *testing.T, pids []string) (list []string) {
	t.Helper()
	held := map[string]bool{}
	for _, pid := range pids {
		fds, _ := filepath.Glob("/proc/" + pid + "/fd/*")
		for _, fd := range fds {
			to, _ := os.Readlink(fd) // it may be closed by now
			held[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if w := strings.Fields(lines.Text()); len(w) == 8 && held[w[6]] && strings.HasPrefix(w[7], "/") {
			list = append(list, w[7])
		}
	}
	return list
}

// asNobody runs a script as another user and returns what it prints.
func asNobody(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	out, _ := cmd.Output() // most of it is refused
	return string(out)
}
