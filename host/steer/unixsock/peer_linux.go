package unixsock

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// listenerOf is the user who listens at the other end, as of his call of listen.
func listenerOf(conn net.Conn) (uid int, known bool, err error) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, false, nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var peer *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		peer, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return 0, false, err
	}
	return int(peer.Uid), true, nil
}
