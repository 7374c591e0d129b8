//go:build unix

package slurm

import "syscall"

// detached makes a process survive this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end; it may have ended.
func terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }
