package mirror

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// here names this machine since it was started, and what process numbers mean on
// it; "" where it cannot be known.
func here() string {
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

// dead says whether the host of a claim was a process of this machine, and is gone.
func (c *claim) dead() bool {
	if c.Where == "" || c.Where != here() {
		return false
	}
	p, err := os.FindProcess(c.PID)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
