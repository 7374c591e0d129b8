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

// attributes give the process a group of its own. Unless it outlives the host, it dies with the host's
// starter thread, and so with the host (B-025).
func attributes(outlives bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !outlives {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// awaitExit waits for the process's end without collecting its status, so that its id stays taken. It
// reports whether that worked.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// checkPeer refuses a socket on which another process than the plugin listens: a plugin can announce
// any address. A process of the plugin's group is accepted (a wrapper script starts it). A process in
// another pid namespace cannot be seen from here; TLS checks it.
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

// linkTo returns a path to the open file itself, valid in this process and in a child until that
// executes another program.
func linkTo(f *os.File) string {
	link := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

// idOf identifies a state of a file.
func idOf(info fs.FileInfo) (id fileID, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(s.Dev), s.Ino, info.Size(), info.ModTime().UnixNano(), s.Ctim.Nano()}, true
}
