//go:build !linux

package command

import (
	"errors"
	"syscall"
)

func warmHere() error {
	return errors.New("warm works on Linux only: leave it out")
}

// warm has the interpreters that are forked for trials; there are none on this system.
type warm struct{}

func newWarm() *warm { return &warm{} }

func (*warm) start(string, []string, *syscall.ProcAttr) (*process, error) { return nil, warmHere() }
