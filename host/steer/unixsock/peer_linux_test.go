package unixsock

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// B-092: the kernel tells the client which user called listen.
func TestListenerOf(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	uid := os.Getuid()
	if uid == 0 {
		uid = 65534 // root can listen as another user
	}
	made := make(chan error)
	go func() { made <- listenAs(uid, socket) }()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, known, err := listenerOf(conn); err != nil || !known || got != uid {
		t.Errorf("user %d, %t, %v, want %d", got, known, err, uid)
	}
	var foreign *ForeignError
	if err := checkListener(conn, socket); errors.As(err, &foreign) != (uid != os.Getuid()) {
		t.Error(err)
	}
}

// listenAs listens in a thread that has another user's id and ends with its goroutine.
// The socket stays open until the test's program ends.
func listenAs(uid int, path string) error {
	runtime.LockOSThread()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	if uid != os.Getuid() {
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			return e
		}
	}
	return unix.Listen(fd, 1)
}
