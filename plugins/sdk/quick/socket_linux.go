package quick

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A socket is a Unix socket that the runtime does not watch itself. The runtime watches every socket for room to write
// too, and Linux says that a Unix socket has room each time the other end has read. That would wake a thread that
// waits for an answer once more for each message. So a socket is watched for data alone, and for room only while
// somebody waits for it.
type socket struct {
	local, remote net.Addr
	fd            int
	// data and room are epoll instances, which the runtime watches: they can be read when the socket has data or room.
	data, room *poller
	closed     atomic.Bool
}

// take takes a connection over: it closes c, and goes on with a copy of its descriptor.
func take(c *net.UnixConn) (*socket, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{local: c.LocalAddr(), remote: c.RemoteAddr()}
	if err1 := raw.Control(func(fd uintptr) {
		s.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	}); err1 != nil || err != nil {
		return nil, errors.Join(err1, err)
	}
	if err := s.watch(); err != nil {
		_ = unix.Close(s.fd)
		return nil, err
	}
	_ = c.Close()
	return s, nil
}

// watch makes the epoll instances. If it fails, the garbage collector closes those that were made.
func (s *socket) watch() (err error) {
	if s.data, err = newPoller(); err != nil {
		return err
	}
	if s.room, err = newPoller(); err != nil {
		return err
	}
	return s.data.add(s.fd, unix.EPOLLIN|unix.EPOLLRDHUP)
}

// Read calls f until it returns true, each time when the socket may have data.
func (s *socket) Read(f func(fd uintptr) (done bool)) error {
	return s.failure(s.data.raw.Read(func(uintptr) bool { return f(uintptr(s.fd)) }))
}

// Write calls f until it returns true, each time when the socket may have room.
func (s *socket) Write(f func(fd uintptr) (done bool)) error {
	var waiting error
	waits := false
	err := s.room.raw.Read(func(uintptr) bool {
		if f(uintptr(s.fd)) {
			return true
		}
		if !waits {
			waits = true
			waiting = s.room.add(s.fd, unix.EPOLLOUT)
		}
		return waiting != nil
	})
	if waits {
		s.room.remove(s.fd)
	}
	return s.failure(errors.Join(err, waiting))
}

// failure says that a socket is closed as package net does.
func (s *socket) failure(err error) error {
	if err != nil && s.closed.Load() {
		return net.ErrClosed
	}
	return err
}

// Close implements net.Conn.
func (s *socket) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	// The first two wait until no Read or Write uses the descriptor.
	return errors.Join(s.data.Close(), s.room.Close(), unix.Close(s.fd))
}

// LocalAddr implements net.Conn.
func (s *socket) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *socket) RemoteAddr() net.Addr { return s.remote }

// SetDeadline implements net.Conn.
func (s *socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (s *socket) SetReadDeadline(t time.Time) error { return s.failure(s.data.SetReadDeadline(t)) }

// SetWriteDeadline implements net.Conn.
func (s *socket) SetWriteDeadline(t time.Time) error { return s.failure(s.room.SetReadDeadline(t)) }

// A poller is an epoll instance that the runtime watches.
type poller struct {
	*os.File
	raw syscall.RawConn
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return pollerOf(fd)
}

// pollerOf fails if the runtime cannot watch the descriptor, as when the user has no watches left.
func pollerOf(fd int) (*poller, error) {
	err := unix.SetNonblock(fd, true) // the runtime watches files that do not block
	f := os.NewFile(uintptr(fd), "epoll")
	raw, err1 := f.SyscallConn()
	err2 := f.SetReadDeadline(time.Time{})
	if err = errors.Join(err, err1, err2); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &poller{f, raw}, nil
}

// add watches a socket. It can be called by a function that waits for the poller.
func (p *poller) add(fd int, events uint32) error { return p.control(unix.EPOLL_CTL_ADD, fd, events) }

// remove ends that. It fails only if the poller is closed.
func (p *poller) remove(fd int) { _ = p.control(unix.EPOLL_CTL_DEL, fd, 0) }

func (p *poller) control(op, fd int, events uint32) (err error) {
	err1 := p.raw.Control(func(own uintptr) {
		err = unix.EpollCtl(int(own), op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	})
	return errors.Join(err1, err)
}
