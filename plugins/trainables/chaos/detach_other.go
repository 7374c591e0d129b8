//go:build !unix

package chaos

import "os/exec"

// detach does nothing where there are no sessions.
func detach(*exec.Cmd) {}
