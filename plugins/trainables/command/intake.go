package command

import (
	"io"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// An intake reads stdout and tracks how much was processed, so that a report on the channel can
// wait for earlier output: the order must not depend on the scheduling of goroutines.
type intake struct {
	mu    sync.Mutex
	idle  sync.Cond // the reader has processed everything it has taken
	file  *os.File
	taken int64 // bytes that have left the pipe
	dealt int64 // of these, processed bytes
	ended bool
}

// read is called by the reader. The next call means that all earlier bytes were processed.
func (in *intake) read(f *os.File, b []byte) (n int, err error) {
	in.rest(f)
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	err = conn.Read(func(fd uintptr) bool {
		n, readErr = in.take(int(fd), b)
		return readErr != syscall.EAGAIN
	})
	switch {
	case err != nil:
		return 0, err // of the deadline
	case readErr != nil:
		return 0, os.NewSyscallError("read", readErr)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (in *intake) rest(f *os.File) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.file, in.dealt = f, in.taken
	in.idle.Broadcast()
}

// take reads under the lock, so that every byte that has left the pipe is counted.
func (in *intake) take(fd int, b []byte) (n int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		if n, err = syscall.Read(fd, b); err != syscall.EINTR {
			break
		}
	}
	n = max(n, 0)
	in.taken += int64(n)
	return n, err
}

// end records that nothing more will be read.
func (in *intake) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.idle.Broadcast()
}

// await returns when all bytes currently in the pipe were processed.
func (in *intake) await() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for all := in.taken + in.unread(); !in.ended && in.dealt < all; {
		in.idle.Wait()
	}
}

// unread returns the number of bytes in the pipe.
func (in *intake) unread() (n int64) {
	if in.file == nil {
		return 0
	}
	if conn, err := in.file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { n = unread(fd) }) // 0: it is closed
	}
	return n
}

// unread returns the number of bytes in a pipe.
func unread(fd uintptr) int64 {
	var n int32
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, fionread, uintptr(unsafe.Pointer(&n))); e != 0 {
		return 0
	}
	return int64(n)
}
