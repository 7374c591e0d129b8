//go:build unix

package chaos

import (
	"os/exec"
	"syscall"
)

// detach makes the child the leader of its own session.
func detach(child *exec.Cmd) { child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
