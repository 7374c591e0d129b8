package command

import (
	"sync"
	"syscall"
)

// A process is a running program, the leader of its own process group.
type process struct {
	pid    int
	exited chan struct{} // closed when it has ended and was reaped
	status syscall.WaitStatus

	mu   sync.Mutex
	gone bool // the group's number may be reused
}

// signal reaches the whole process group, even if it is suspended.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	_ = syscall.Kill(-p.pid, sig) // it may already be gone
	if sig != syscall.SIGKILL {
		_ = syscall.Kill(-p.pid, syscall.SIGCONT)
	}
}

// sysProcAttr puts the program in its own process group, without a terminal.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
