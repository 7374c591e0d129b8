package command

import (
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxUnread is more than the pipe of stdout holds (1 MiB is what a program may make it).
const maxUnread = 2 << 20

// intake reads stdout and knows what has become of it, so that a report of the channel can wait
// for what was printed before it: which of the two was first must not depend on which goroutine
// was.
type intake struct {
	mu    sync.Mutex
	idle  sync.Cond // the reader has dealt with all that it has taken
	file  *os.File
	busy  bool  // it deals with what it has taken
	taken int64 // bytes
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
	in.file, in.busy = f, false
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
	if n > 0 {
		in.busy = true
		in.taken += int64(n)
	}
	return max(n, 0), err
}

// end says that nothing more will be read.
func (in *intake) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended, in.busy = true, false
	in.idle.Broadcast()
}

// await returns when all that was written to the pipe by now is dealt with.
func (in *intake) await() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for from := in.taken; !in.ended && (in.busy || in.unread()) && in.taken-from <= maxUnread; {
		in.idle.Wait()
	}
}

// unread says whether something is in the pipe. The reader wakes for it, and rests again when it
// has dealt with it.
func (in *intake) unread() bool {
	if in.file == nil {
		return false
	}
	conn, err := in.file.SyscallConn()
	if err != nil {
		return false
	}
	some := false
	err = conn.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		some = err == nil && n > 0 && p[0].Revents&unix.POLLIN != 0
	})
	return err == nil && some
}
