package chaos

import (
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Process is what chaos does to the process that it runs in. Tests that run it
// in their own process replace what would end them; nil fields are the real
// thing. When a replaced Exit, Kill or Crash returns, the trial fails with an
// error that says so; when a replaced Block returns, the trial ends.
type Process struct {
	// Exit ends the process with a status.
	Exit func(code int)
	// Kill ends the process by SIGKILL.
	Kill func()
	// Crash panics where nobody recovers.
	Crash func(message string)
	// Block never returns.
	Block func()
	// IgnoreTerm makes the process deaf to SIGTERM and SIGINT.
	IgnoreTerm func()
	// Spawn starts a process that lives on when this one ends, in a session
	// of its own if detached, and returns its id.
	Spawn func(detached bool) (pid int, err error)
	// Stdout and Stderr are flooded by flood_output.
	Stdout, Stderr io.Writer
}

// orReal fills what is nil.
func (p Process) orReal() Process {
	p.Exit = or(p.Exit, os.Exit)
	p.Kill = or(p.Kill, killSelf)
	p.Crash = or(p.Crash, crashElsewhere)
	p.Block = or(p.Block, func() { time.Sleep(math.MaxInt64) })
	p.IgnoreTerm = or(p.IgnoreTerm, ignoreTerm)
	p.Spawn = or(p.Spawn, spawn)
	return p
}

func or[F func() | func(int) | func(string) | func(bool) (int, error)](f, real F) F {
	if f == nil {
		return real
	}
	return f
}

// outputs are looked up when they are used: serving a plugin replaces them.
func (p Process) outputs() (stdout, stderr io.Writer) {
	stdout, stderr = os.Stdout, os.Stderr
	if p.Stdout != nil {
		stdout = p.Stdout
	}
	if p.Stderr != nil {
		stderr = p.Stderr
	}
	return stdout, stderr
}

func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	time.Sleep(math.MaxInt64) // the signal is on its way
}

func crashElsewhere(message string) {
	go panic(message)
	time.Sleep(math.MaxInt64)
}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM, os.Interrupt) }

// childSeconds is how long children live, so that a host that forgets them is
// found out but nothing stays for ever.
const childSeconds = "600"

// spawn lets the child inherit stdout and stderr, which keeps pipes open that
// somebody may be reading to their end.
func spawn(detached bool) (int, error) {
	child := exec.Command("sleep", childSeconds)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if detached {
		detach(child)
	}
	if err := child.Start(); err != nil {
		return 0, err
	}
	go func() { _ = child.Wait() }()
	return child.Process.Pid, nil
}
