package local

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// B-025: a process that only its parent identifies is ended, even if its parent ends between the look
// that finds it and the kill.
func TestFrozenAreKilled(t *testing.T) {
	toolchain.Programs(t, "setsid")
	// The shell is marked; its child has no environment, and a session of its own.
	shell := exec.Command("sh", "-c", "env -i setsid sleep 1000 & echo $!; wait")
	mark := "/x/frozen#" + strconv.Itoa(os.Getpid()) // of no earlier run that was cut off
	shell.Env = append(shell.Environ(), MarkVariable+"="+mark)
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
	killFamily(signs{tag: func(Tag) bool { return false }, mark: func(text string) bool {
		marked := text == mark
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
	if _, alive := stateOf(child); alive || looks < 2 {
		t.Errorf("after %d looks the child is alive: %t", looks, alive)
	}
}

// stopped reports whether a process is suspended.
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

// B-025: a process without an environment, in a session of its own, whose parent has ended, is found
// by its tag; a process of another experiment is not.
func TestTaggedAreKilled(t *testing.T) {
	toolchain.Programs(t, "setsid")
	dirs := []string{t.TempDir(), t.TempDir()}
	var pids []int
	for _, dir := range dirs {
		mark := NewMark(dir)
		if TagOf(mark) == 0 || TagOf(mark) == TagOf(NewMark(dir)) || !TagOf(mark).sameDir(TagOf(NewMark(dir))) {
			t.Error("tags do not tell hosts and experiments apart")
		}
		off := TagOf(mark).Set()
		out, err := exec.Command("sh", "-c", "env -i setsid sleep 1000 > /dev/null 2>&1 & echo $!").Output()
		off(0)
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
		if _, alive := stateOf(pid); alive != (i == 1) {
			t.Errorf("process %d is alive: %t", i, alive)
		}
	}
}

// B-025: a number that now belongs to another process is left alone.
func TestNumbersOfOthers(t *testing.T) {
	bystander := sleeping(t, MarkVariable+"=any")
	s, _ := stateOf(bystander.Process.Pid)
	earlier := process{bystander.Process.Pid, s.began - 1}
	if found := map[process]bool{}; freeze([]process{earlier}, found) || len(found) > 0 ||
		kill([]process{earlier}) > 0 {
		t.Error("a process that has ended is found")
	}
	if stopped(bystander.Process.Pid) {
		t.Error("the process that has its number is frozen")
	}
	if err := bystander.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process that has its number is killed: %v", err)
	}
	marked := signs{mark: func(string) bool { return true }, tag: func(Tag) bool { return true }}
	if marked.of(earlier) {
		t.Error("the mark of the process that has its number counts")
	}
	if now := (process{earlier.pid, s.began}); !marked.of(now) || !now.signal(syscall.SIGKILL) {
		t.Error("the process itself is not found")
	}
}

// B-025: a parent's number belongs to another process if that began after the child.
func TestFamilyByNumbers(t *testing.T) {
	const host, marked, child, grandchild, stranger, strangersChild, own = 10, 20, 21, 22, 30, 31, 40
	list := table{
		1: {}, host: {1, 100}, own: {host, 300},
		marked: {host, 200}, child: {marked, 200}, grandchild: {child, 900},
		// The number 30 belonged to a process that has ended; a marked process has it now.
		stranger: {1, 800}, strangersChild: {stranger, 700},
	}
	var got []int
	for _, p := range list.family(host, func(p process) bool {
		return p.pid == marked || p.pid == stranger ||
			p.pid == host
	}) {
		got = append(got, p.pid)
	}
	slices.Sort(got)
	if want := []int{marked, child, grandchild, stranger}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// B-025: a process that the program starts for something else, while a host of it wears the tag, is
// not the host's.
func TestTagIsForOne(t *testing.T) {
	mark := NewMark(t.TempDir())
	start := func() *exec.Cmd {
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		return c
	}
	wear := TagOf(mark).Set
	off := wear()
	early := start()
	off(early.Process.Pid)
	off = wear()
	plugin, stranger := start(), start()
	off(plugin.Process.Pid)
	for name, c := range map[string]*exec.Cmd{"an earlier plugin": early, "the plugin": plugin} {
		if tagOn(c.Process.Pid) != TagOf(mark) {
			t.Errorf("%s has lost its tag", name)
		}
	}
	if n := KillMarked(mark); n != 2 || tagOn(stranger.Process.Pid) != 0 {
		t.Errorf("%d were killed, not 2", n)
	}
	if _, alive := stateOf(stranger.Process.Pid); !alive {
		t.Error("the program's own child is killed with the host's")
	}
}

// B-025: after a crash of all hosts, the environment identifies what they or their agents started. A process that a
// user starts, with the variables of a trial as the manual lists them, is not touched (B-155).
func TestKillLeftovers(t *testing.T) {
	dir := t.TempDir()
	exp, exp2, node := filepath.Join(dir, "exp"), filepath.Join(dir, "exp2"), NewMark(filepath.Join(dir, "node"))
	trial := "TUNEHOST_TRIAL_DIR=" + exp + "/trials/1"
	ours := []*exec.Cmd{
		sleeping(t, MarkVariable+"="+NewMark(exp), trial),
		sleeping(t, MarkVariable+"="+NewMark(exp)),
		sleeping(t, MarkVariable+"="+node, trial), // of an agent on this machine
	}
	others := map[string]*exec.Cmd{
		"by hand":                     sleeping(t, trial, "TUNEHOST_TRIAL_ID=a", "TUNEHOST_PARAM_X=0.5"),
		"by hand, with a path":        sleeping(t, MarkVariable+"="+exp, trial),
		"by hand, with a made-up one": sleeping(t, MarkVariable+"="+exp+"#1", trial),
		"of another experiment": sleeping(t, MarkVariable+"="+NewMark(exp2),
			"TUNEHOST_TRIAL_DIR="+exp2+"/trials/1"),
		"of an agent elsewhere": sleeping(t, MarkVariable+"="+node, "TUNEHOST_TRIAL_DIR="+exp2+"/trials/1"),
	}
	if n := CountLeftovers(exp); n != len(ours) {
		t.Errorf("%d are counted", n)
	}
	if n := KillLeftovers(exp); n != len(ours) {
		t.Errorf("%d were found", n)
	}
	for i, c := range ours {
		if _, alive := stateOf(c.Process.Pid); alive {
			t.Errorf("process %d of the host is alive", i)
		}
	}
	for what, c := range others {
		if _, alive := stateOf(c.Process.Pid); !alive {
			t.Errorf("the process %s is killed", what)
		}
	}
	if n := KillLeftovers(exp); n != 0 {
		t.Errorf("%d were found again", n)
	}
}

// sleeping starts a process with these variables alone, and waits until the kernel shows them, a moment after the
// start.
func sleeping(t *testing.T, variables ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.Env = append(variables, "LAST=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	soon(t, "the kernel shows an environment", func() bool {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/environ")
		return err == nil && strings.Contains(string(env), "LAST=1")
	})
	return c
}
