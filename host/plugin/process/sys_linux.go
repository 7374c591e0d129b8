package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give the process a group of its own, and let it die with the
// host's starter thread, which is with the host (B-025), unless it outlives it.
func attributes(outlives bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !outlives {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// awaitExit waits until the process has ended and leaves its status to be
// collected, so that its id stays taken. It reports whether it could.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// checkPeer refuses a socket on which another process than the plugin listens:
// a plugin can announce any address. A process of the plugin's group is as
// good (a wrapper script starts it); one that cannot be seen from here, in
// another pid namespace, is left to TLS.
func checkPeer(conn *net.UnixConn, pid int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		peer, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return err
	}
	if peer.Pid == 0 || int(peer.Pid) == pid {
		return nil
	}
	if group, err := unix.Getpgid(int(peer.Pid)); err == nil && group == pid {
		return nil
	}
	return fmt.Errorf("its socket belongs to process %d, not to it (%d)", peer.Pid, pid)
}

// linkTo is a path that leads to the open file itself, in this process and a
// child of it until it executes another program.
func linkTo(f *os.File) string {
	link := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

// idOf tells one state of a file from the next.
func idOf(info fs.FileInfo) (id fileID, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(s.Dev), s.Ino, info.Size(), info.ModTime().UnixNano(), s.Ctim.Nano()}, true
}
