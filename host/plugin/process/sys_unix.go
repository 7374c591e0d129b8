//go:build unix

package process

import (
	"os"
	"syscall"
)

// killGroup kills a process and the group that it leads.
func killGroup(pid int) { signalGroup(pid, syscall.SIGKILL) }

func signalGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

// endSignal returns the signal that ended a process, if one did.
func endSignal(s *os.ProcessState) (syscall.Signal, bool) {
	w, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return 0, false
	}
	return w.Signal(), true
}
