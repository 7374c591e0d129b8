//go:build !unix

package chaos

import "os/exec"

// detach does nothing on systems without sessions.
func detach(*exec.Cmd) {}
