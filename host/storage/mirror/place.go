package mirror

import (
	"errors"
	"os"
	"syscall"

	"github.com/tunehost/tunehost/host/machine"
)

// dead reports whether the host of a claim was a process of this machine that has ended.
func (c *claim) dead() bool {
	if c.Where == "" || c.Where != machine.Here() {
		return false
	}
	p, err := os.FindProcess(c.PID)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
