package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the time limit for things that end by themselves, on a busy machine; enginePatience is that for
// hosts of an engine, whose nodes take a while to be lost.
const (
	patience       = 3 * time.Minute
	enginePatience = 12 * time.Minute
)

// host is a process that runs the experiment.
type host struct {
	x       *experiment
	pid     int
	out     string // the name of a file: leftover processes would keep a pipe open
	exit    chan int
	status  int            // less than 0: a signal has ended it
	by      syscall.Signal // that one
	ended   bool
	excuses []string // allowed error messages, because of injected faults
	killed  bool
	told    bool // to stop
	harmed  bool
	spared  string // why a fault is impossible on this machine
}

func (x *experiment) start(t testing.TB, more ...string) *host {
	t.Helper()
	x.hosts++
	h := &host{x: x, exit: make(chan int, 1), out: filepath.Join(x.root, fmt.Sprintf("host-%03d.out", x.hosts))}
	cmd := x.command(t, x.runArgs(more...)...)
	out, err := os.Create(h.out)
	must(t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	must(t, cmd.Start())
	h.pid = cmd.Process.Pid
	go func() {
		_ = cmd.Wait()
		h.by = cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
		h.exit <- cmd.ProcessState.ExitCode()
	}()
	return h
}

// written returns the size of the record.
func (x *experiment) written() (bytes int64) {
	list, _ := filepath.Glob(filepath.Join(x.dir, "journal", "*.tj"))
	for _, name := range list {
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

func (h *host) said() string {
	text, _ := os.ReadFile(h.out)
	return string(text)
}

// did notes an injected fault.
func (h *host) did(what string) {
	h.harmed = true
	count(what)
}

// within waits for the host's end.
func (h *host) within(d time.Duration) bool {
	if h.ended {
		return true
	}
	select {
	case h.status = <-h.exit:
		h.ended = true
	case <-time.After(d):
	}
	return h.ended
}

// ends waits until the host ends by itself.
func (h *host) ends(t testing.TB) {
	t.Helper()
	limit := patience
	if h.x.engine != nil {
		limit = enginePatience
	}
	if !h.within(limit) {
		_ = syscall.Kill(h.pid, syscall.SIGQUIT)
		<-h.exit
		t.Fatalf("the host does not come to its end:\n%s", h.said())
	}
}

// await waits until a condition is true, or the host has ended.
func (h *host) await(t testing.TB, d time.Duration, ok func() bool) bool {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if ok() {
			return true
		}
		if h.within(25 * time.Millisecond) {
			return false
		}
	}
	return false
}

// signal sends a signal to the host, or to its whole group.
func (h *host) signal(s syscall.Signal, group bool) {
	pid := h.pid
	if group {
		pid = -pid
	}
	_ = syscall.Kill(pid, s) // it may have ended
}

// excuse allows the host to fail with this message.
func (h *host) excuse(words ...string) { h.excuses = append(h.excuses, words...) }

// judge checks the end of a host, given the injected faults.
func (h *host) judge(t testing.TB) {
	t.Helper()
	said := h.said()
	if strings.Contains(said, "panic:") || strings.Contains(said, "goroutine ") {
		t.Errorf("the host has panicked:\n%s", said)
	}
	switch {
	case h.status == 0, h.by == syscall.SIGKILL && h.killed, h.status == 130 && h.told, h.by == syscall.SIGINT &&
		h.told:
		return
	case h.status == 1 && h.x.tampered && strings.Contains(said, " failed"):
		return
	}
	for _, words := range h.excuses {
		if h.status > 0 && strings.Contains(said, words) {
			h.oneLine(t, said)
			return
		}
	}
	t.Errorf("the host ended with status %d (%v):\n%s", h.status, h.by, said)
}

// oneLine checks that a failed host prints the reason once, in one line.
func (h *host) oneLine(t testing.TB, said string) {
	t.Helper()
	if n := strings.Count("\n"+said, "\ntunehost: "); n != 1 && !h.told {
		t.Errorf("it says %d times why it fails:\n%s", n, said)
	}
}
