package python_test

import (
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// serves reports whether the process pid, or one of its group, listens on a socket.
func serves(socket string, pid int) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	group := 0
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			group, _ = unix.Getpgid(int(peer.Pid))
		}
	})
	return group == pid
}

// alive reports whether a process runs and is not a zombie.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}
