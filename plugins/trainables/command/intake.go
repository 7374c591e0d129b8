package command

import (
	"io"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// intake reads stdout and knows what has become of it, so that a report of the channel can wait
// for what was printed before it: which of the two was first must not depend on which goroutine
// was.
type intake struct {
	mu    sync.Mutex
	idle  sync.Cond // the reader has dealt with all that it has taken
	file  *os.File
	taken int64 // bytes that have left the pipe
	dealt int64 // of these, what is dealt with
	ended bool
}

// read is the reader's. To call it again says that all it returned before is dealt with.
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

// take reads under the lock: what has left the pipe is known to be the reader's.
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

// end says that nothing more will be read.
func (in *intake) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.idle.Broadcast()
}

// await returns when all that was written to the pipe by now is dealt with.
func (in *intake) await() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for all := in.taken + in.unread(); !in.ended && in.dealt < all; {
		in.idle.Wait()
	}
}

// unread is how many bytes are in the pipe.
func (in *intake) unread() (n int64) {
	if in.file == nil {
		return 0
	}
	if conn, err := in.file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { n = unread(fd) }) // 0: it is closed
	}
	return n
}

// unread is how many bytes are in a pipe.
func unread(fd uintptr) int64 {
	var n int32
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, fionread, uintptr(unsafe.Pointer(&n))); e != 0 {
		return 0
	}
	return int64(n)
}
