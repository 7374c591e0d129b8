package mirror

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// Here identifies this machine since its last start, and its space of process numbers; "" where that
// is unknown.
func Here() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	numbers, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + numbers
}

// dead reports whether the host of a claim was a process of this machine that has ended.
func (c *claim) dead() bool {
	if c.Where == "" || c.Where != Here() {
		return false
	}
	p, err := os.FindProcess(c.PID)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
