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

// A Process is what chaos does to its own process. Tests that run it in their own process replace
// the functions that would end them; nil fields are the real functions. If a replaced Exit, Kill or
// Crash returns, the trial fails with an error that says so; if a replaced Block returns, the trial
// ends.
type Process struct {
	// Exit ends the process with a status.
	Exit func(code int)
	// Kill ends the process by SIGKILL.
	Kill func()
	// Crash panics without a recover.
	Crash func(message string)
	// Block never returns.
	Block func()
	// IgnoreTerm makes the process ignore SIGTERM and SIGINT.
	IgnoreTerm func()
	// Spawn starts a process that outlives this one, in its own session if detached, and returns
	// its id.
	Spawn func(detached bool) (pid int, err error)
	// Stdout and Stderr are flooded by flood_output.
	Stdout, Stderr io.Writer
}

// orReal sets nil functions to the real ones.
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

// outputs looks up stdout and stderr at each use, because serving a plugin replaces them.
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
	time.Sleep(math.MaxInt64) // the signal will arrive soon
}

func crashElsewhere(message string) {
	go panic(message)
	time.Sleep(math.MaxInt64)
}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM, os.Interrupt) }

// childSeconds is how long children live: long enough to detect that a host forgets them, but not
// for ever.
const childSeconds = "600"

// spawn lets the child inherit stdout and stderr, which keeps pipes open for their readers.
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
