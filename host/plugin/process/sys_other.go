//go:build unix && !linux

package process

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

// attributes give the process a group of its own. On this system only its SDK, which watches parent
// and connection, ends it with the host.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit cannot wait here without collecting the status. If a group's leader ends by itself, the
// rest of the group is not killed.
func awaitExit(int) bool { return false }

// checkPeer cannot check the peer on this system; TLS guards the connection.
func checkPeer(*net.UnixConn, int) error { return nil }

// linkTo is not supported on this system.
func linkTo(*os.File) string { return "" }

// idOf is not supported on this system: each file is read again.
func idOf(fs.FileInfo) (fileID, bool) { return fileID{}, false }
