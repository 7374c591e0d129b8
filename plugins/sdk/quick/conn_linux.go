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
	return &conn{endpoint: c, raw: raw}
}

// Own is Conn for a connection that nobody else uses from now on: it may close c, and go on with the same socket. That
// makes messages by Unix sockets cheaper.
func Own(c net.Conn) net.Conn {
	if u, ok := c.(*net.UnixConn); ok {
		if s, err := take(u); err == nil {
			return &conn{endpoint: s, raw: s}
		}
	}
	return Conn(c)
}

// A pollable calls a function until it returns true, each time when its socket may have data or room.
type pollable interface {
	Read(func(fd uintptr) (done bool)) error
	Write(func(fd uintptr) (done bool)) error
}

// An endpoint is a net.Conn without Read and Write.
type endpoint interface {
	Close() error
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

type conn struct {
	endpoint
	raw pollable
	// watched says that the thread of the runtime is awake, or wakes up for a timer within the period.
	watched atomic.Bool
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	var errno syscall.Errno
	err = c.raw.Read(func(fd uintptr) bool {
		n, errno = c.read(fd, p)
		return errno != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err
	case errno != 0:
		return 0, c.failed("read", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// read reads with a system call that wakes the thread of the runtime, if that may be asleep. The timer wakes it once
// more.
func (c *conn) read(fd uintptr, p []byte) (int, syscall.Errno) {
	n, errno := transfer(!c.watched.Load(), syscall.SYS_READ, fd, p)
	if n > 0 && c.watched.CompareAndSwap(false, true) {
		time.AfterFunc(period, func() { c.watched.Store(false) })
	}
	return n, errno
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (n int, err error) {
	var errno syscall.Errno
	err = c.raw.Write(func(fd uintptr) bool {
		for n < len(p) {
			var m int
			if m, errno = transfer(false, syscall.SYS_WRITE, fd, p[n:]); errno != 0 {
				return errno != syscall.EAGAIN
			}
			n += m
		}
		return true
	})
	if err == nil && errno != 0 {
		err = c.failed("write", errno)
	}
	return n, err
}

func (c *conn) failed(op string, why syscall.Errno) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(),
		Err: os.NewSyscallError(op, why)}
}

// transfer reads or writes what is possible at once, because the sockets do not block. The runtime takes no notice of
// it unless it is told to.
func transfer(noticed bool, call, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		var n uintptr
		var errno syscall.Errno
		if noticed {
			n, _, errno = syscall.Syscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		} else {
			n, _, errno = syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		}
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
