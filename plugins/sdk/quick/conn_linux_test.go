package quick

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A goroutine that computes after a message does not keep the only processor for itself, whether the runtime was
// asleep or not when the message came.
func TestOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a, b := pair(t, "unix", filepath.Join(t.TempDir(), "s"))
	for range 20 {
		end := echo(t, a, b)
		var others atomic.Bool
		go others.Store(true)
		for since := time.Now(); !others.Load(); {
			if time.Since(since) > 20*time.Second {
				t.Fatal("no other goroutine has run for 20 s")
			}
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// echo has another process send a message, while this one does nothing. It makes no system call after that.
func echo(t *testing.T, a, b net.Conn) (end func() error) {
	t.Helper()
	socket, err := syscall.Dup(a.(*conn).endpoint.(*socket).fd)
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(socket), "socket")
	cmd := exec.Command("printf", "x")
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return func() error { return errors.Join(cmd.Wait(), out.Close()) }
}

// A thread that waits for an answer is not woken when the other end has read: neither that it has, nor that the socket
// has room counts as something to wait for. Once a message is there, it does.
func TestWatchesDataAlone(t *testing.T) {
	a, b := pair(t, "unix", filepath.Join(t.TempDir(), "s"))
	talk(t, a, b)
	if got := readable(t, a); got {
		t.Error("a connection without data has something for its reader")
	}
	if _, err := b.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := readable(t, a); !got {
		t.Error("a connection with data has nothing for its reader")
	}
}

// readable reports whether the runtime would wake a goroutine that reads.
func readable(t *testing.T, c net.Conn) (yes bool) {
	t.Helper()
	err := c.(*conn).endpoint.(*socket).data.raw.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(list, 0)
		if yes = n == 1; err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return yes
}

// A descriptor that the runtime cannot watch is refused, instead of making reads fail later.
func TestWatchesAreChecked(t *testing.T) {
	fd, err := unix.Open(filepath.Join(t.TempDir(), "f"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pollerOf(fd); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("a file, which cannot be watched: %v", err)
	}
}
