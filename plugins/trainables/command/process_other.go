//go:build !linux

package command

import "syscall"

// start runs the program. Only Linux kills it when this process dies.
func start(path string, args []string, attr *syscall.ProcAttr) (*process, error) {
	attr.Sys = sysProcAttr()
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return nil, err
	}
	p := &process{pid: pid, exited: make(chan struct{})}
	go p.reapWhenEnded()
	return p, nil
}

// reapWhenEnded keeps the group's number only while members are left.
func (p *process) reapWhenEnded() {
	var s syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(p.pid, &s, 0, nil); err != syscall.EINTR {
			break
		}
	}
	p.mu.Lock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.gone, p.status = true, s
	p.mu.Unlock()
	close(p.exited)
}

// killLeftovers cannot find processes that left the group.
func killLeftovers(group int, trialID, dir string) {}

// fionread asks a pipe for the number of bytes in it.
const fionread = 0x4004667f

// handles cannot determine whether a process has a handler for a signal.
func handles(int, syscall.Signal) bool { return false }
