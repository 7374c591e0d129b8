package command

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// sockets lends listening sockets to trials. Creating one is the largest cost of a short trial, so
// they are kept for the next one and removed when no trial has run for a while.
type sockets struct {
	mu    sync.Mutex
	dir   string // private, short; "" before the first and after the last
	free  []*socket
	made  int
	taken int
	idle  *time.Timer
}

// idleTime is how long unused sockets are kept.
const idleTime = time.Second

func newSockets() *sockets { return &sockets{} }

// maxSocketPath is below the 104 bytes of the strictest system.
const maxSocketPath = 100

// take lends a socket to a trial; connections are passed to serve.
func (s *sockets) take(serve func(*os.File)) (*socket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
	if len(s.free) == 0 {
		k, err := s.create()
		if err != nil {
			s.rest()
			return nil, fmt.Errorf("cannot make the report channel: %w", err)
		}
		s.free = append(s.free, k)
	}
	k := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.taken++
	k.lend(serve)
	return k, nil
}

// giveBack returns a socket that its trial has retired or never used.
func (s *sockets) giveBack(k *socket) {
	k.lend(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free = append(s.free, k)
	s.rest()
}

// rest starts the idle time if no socket is in use. It needs s.mu.
func (s *sockets) rest() {
	switch {
	case s.taken > 0:
	case s.idle == nil:
		s.idle = time.AfterFunc(idleTime, s.clear)
	default:
		s.idle.Reset(idleTime)
	}
}

// clear removes everything unless it is used again.
func (s *sockets) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken > 0 || s.dir == "" {
		return
	}
	for _, k := range s.free {
		k.listener.Close()
	}
	s.removeFiles()
	s.free, s.dir, s.made = nil, "", 0
}

// removeFiles removes the sockets' names and then their folder, if it is empty.
func (s *sockets) removeFiles() {
	for i := range s.made {
		os.Remove(s.path(i))
	}
	os.Remove(s.dir)
}

func (s *sockets) path(i int) string { return filepath.Join(s.dir, strconv.Itoa(i)) }

func (s *sockets) create() (*socket, error) {
	if s.dir == "" {
		dir, err := privateDir()
		if err != nil {
			return nil, err
		}
		s.dir = dir
	}
	path := s.path(s.made)
	f, err := listen(path)
	if err != nil {
		return nil, err
	}
	s.made++
	k := &socket{path: path, listener: f}
	go k.run()
	return k, nil
}

// privateDir creates a directory with mode 0700. It is in the folder that the host created for this
// plugin's sockets and removes with its contents; without one, or if its path is too long, it is a
// temporary directory.
func privateDir() (string, error) {
	parent := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")
	if filepath.IsAbs(parent) && len(parent) <= maxSocketPath-len("/ch-4294967295/123456") {
		if dir, err := os.MkdirTemp(parent, "ch-"); err == nil {
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp("", "tunehost-ch-")
	if err == nil && len(dir) > maxSocketPath-len("/123456") {
		_ = os.Remove(dir)
		return os.MkdirTemp("/tmp", "tunehost-ch-")
	}
	return dir, err
}

func listen(path string) (*os.File, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	l.SetUnlinkOnClose(false)
	return l.File()
}

// A socket is one listening socket and the trial that uses it now.
type socket struct {
	path     string
	listener *os.File

	mu    sync.Mutex
	serve func(*os.File)
}

func (k *socket) lend(serve func(*os.File)) {
	k.mu.Lock()
	k.serve = serve
	k.mu.Unlock()
}

// run accepts connections until the listener is closed.
func (k *socket) run() {
	conn, err := k.listener.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.acceptAll(int(fd))
		return false
	})
}

// retire accepts connections made before the call, and none after it.
func (k *socket) retire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if conn, err := k.listener.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { k.acceptAll(int(fd)) })
	}
	k.serve = nil
}

// acceptAll passes on connections. It needs k.mu, so that none is left when retire returns.
func (k *socket) acceptAll(fd int) {
	for {
		c, err := accept(fd)
		switch {
		case err == syscall.EINTR || err == syscall.ECONNABORTED:
		case err != nil:
			return
		case k.serve == nil:
			syscall.Close(c)
		default:
			k.serve(os.NewFile(uintptr(c), "report channel"))
		}
	}
}

func accept(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	c, _, err := syscall.Accept(fd)
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(c)
	return c, syscall.SetNonblock(c, true)
}
