//go:build !unix

package slurm

import "syscall"

func detached() *syscall.SysProcAttr { return nil }

func terminate(int) {}
