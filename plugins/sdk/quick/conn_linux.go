package quick

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Conn returns a connection that reads and writes c, quickly if c is a socket. Its deadlines and errors are those
// of c.
func Conn(c net.Conn) net.Conn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c // it is closed
	}
	return &conn{Conn: c, raw: raw}
}

type conn struct {
	net.Conn
	raw syscall.RawConn
	// watched says that the thread of the runtime is awake, or wakes up for a timer within the period.
	watched atomic.Bool
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return c.Conn.Read(p)
	}
	n, errno := 0, syscall.EAGAIN
	err := c.raw.Read(func(fd uintptr) bool {
		if !c.watched.Load() { // perhaps no longer, after a wait
			return true
		}
		n, errno = transfer(syscall.SYS_READ, fd, p)
		return errno != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err
	case errno == syscall.EAGAIN:
		return c.readWatched(p)
	case errno != 0:
		return 0, c.failed("read", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// readWatched reads with a system call that wakes the thread of the runtime. The timer wakes it once more.
func (c *conn) readWatched(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.watched.CompareAndSwap(false, true) {
		time.AfterFunc(period, func() { c.watched.Store(false) })
	}
	return n, err
}

// Write implements net.Conn. What does not fit into the socket is written as usual.
func (c *conn) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return c.Conn.Write(p)
	}
	n, errno := 0, syscall.Errno(0)
	err := c.raw.Write(func(fd uintptr) bool {
		n, errno = transfer(syscall.SYS_WRITE, fd, p)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case errno != 0 && errno != syscall.EAGAIN:
		return 0, c.failed("write", errno)
	case n == len(p):
		return n, nil
	}
	rest, err := c.Conn.Write(p[n:])
	return n + rest, err
}

func (c *conn) failed(op string, why syscall.Errno) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(),
		Err: os.NewSyscallError(op, why)}
}

// transfer reads or writes what is possible at once: sockets of package net do not block.
func transfer(call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
