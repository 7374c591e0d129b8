//go:build unix && !linux

package process

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

// attributes give the process a group of its own. Here nothing ends it with the
// host but its SDK, which watches parent and connection.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit cannot wait without collecting the status here, so that what is left
// of a group whose leader has ended by itself is not killed.
func awaitExit(int) bool { return false }

// checkPeer has no way to ask here; TLS guards the connection.
func checkPeer(*net.UnixConn, int) error { return nil }

// linkTo has no path to offer here.
func linkTo(*os.File) string { return "" }

// idOf: here each file is read again.
func idOf(fs.FileInfo) (fileID, bool) { return fileID{}, false }
