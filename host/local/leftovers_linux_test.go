package local

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// B-025: a process that is known by its parent alone is ended, also when its parent
// ends between the look that finds it and the one that kills.
func TestFrozenAreKilled(t *testing.T) {
	toolchain.Programs(t, "setsid")
	// The shell is marked; what it starts has no environment, and a session of its own.
	shell := exec.Command("sh", "-c", "env -i setsid sleep 1000 & echo $!; wait")
	shell.Env = append(shell.Environ(), MarkVariable+"=/x/frozen#1")
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	soon(t, "the child has become another program", func() bool {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/environ")
		return err == nil && len(env) == 0
	})
	looks := 0
	killFamily(signs{tag: func(Tag) bool { return false }, variable: func(variable string) bool {
		marked := variable == MarkVariable+"=/x/frozen#1"
		if marked {
			looks++
		}
		if marked && looks == 2 { // what the first look found is told to stop
			soon(t, "the child is frozen", func() bool { return stopped(child) })
			_ = shell.Process.Kill()
			_ = shell.Wait()
		}
		return marked
	}})
	if _, _, alive := stateOf(child); alive || looks < 2 {
		t.Errorf("after %d looks the child is alive: %t", looks, alive)
	}
}

// stopped says whether a process is suspended.
func stopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") T ")
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("never: %s", what)
			return
		}
	}
}

// B-025: a process without an environment, in a session of its own, whose parent has
// ended, is known by its tag; one of another experiment is not.
func TestTaggedAreKilled(t *testing.T) {
	toolchain.Programs(t, "setsid")
	dirs := []string{t.TempDir(), t.TempDir()}
	var pids []int
	for _, dir := range dirs {
		mark := NewMark(dir)
		if TagOf(mark) == 0 || TagOf(mark) == TagOf(NewMark(dir)) || !TagOf(mark).sameDir(TagOf(NewMark(dir))) {
			t.Error("tags do not tell hosts and experiments apart")
		}
		off := TagOf(mark).Wear()
		out, err := exec.Command("sh", "-c", "env -i setsid sleep 1000 > /dev/null 2>&1 & echo $!").Output()
		off()
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		pids = append(pids, pid)
	}
	if tagOn(os.Getpid()) != 0 {
		t.Error("the host itself keeps the tag")
	}
	if n := KillLeftovers(dirs[0]); n != 1 {
		t.Errorf("%d were found", n)
	}
	for i, pid := range pids {
		if _, _, alive := stateOf(pid); alive != (i == 1) {
			t.Errorf("process %d is alive: %t", i, alive)
		}
	}
}
