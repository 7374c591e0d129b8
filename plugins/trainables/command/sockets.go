package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// sockets lends listening sockets to trials. Making one costs more than all
// else about a short trial, so they are kept for the next one and removed when
// no trial has run for a while.
type sockets struct {
	mu    sync.Mutex
	dir   string   // private, short; "" before the first and after the last
	claim *os.File // on dir, for as long as it is used
	free  []*socket
	made  int
	taken int
	idle  *time.Timer
}

// idleTime is how long unused sockets are kept.
const idleTime = time.Second

func newSockets() *sockets { return &sockets{} }

// maxSocketPath leaves room under the 104 bytes that the strictest system has.
const maxSocketPath = 100

// take gives a socket to a trial, whose connections are handed to serve.
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

// giveBack takes a socket that its trial has retired or never used.
func (s *sockets) giveBack(k *socket) {
	k.lend(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.free = append(s.free, k)
	s.rest()
}

// rest starts the idle time when nothing is taken. It needs s.mu.
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
	os.RemoveAll(s.dir)
	s.claim.Close()
	s.free, s.dir, s.claim, s.made = nil, "", nil, 0
}

func (s *sockets) create() (*socket, error) {
	if s.dir == "" {
		dir, claim, err := privateDir()
		if err != nil {
			return nil, err
		}
		s.dir, s.claim = dir, claim
	}
	path := filepath.Join(s.dir, strconv.Itoa(s.made))
	f, err := listen(path)
	if err != nil {
		return nil, err
	}
	s.made++
	k := &socket{path: path, listener: f}
	go k.run()
	return k, nil
}

// privateDir makes a directory for the owner alone, and claims it. The folder that
// the host made for this plugin's sockets goes with the plugin; else a temporary one.
func privateDir() (string, *os.File, error) {
	for _, parent := range []string{os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), os.TempDir(), "/tmp"} {
		if parent == "" || !filepath.IsAbs(parent) || len(parent) > maxSocketPath-len("/tunehost-ch-0123456789/123456") {
			continue
		}
		if dir, claim, err := claimedDir(parent); err == nil {
			removeStale(parent)
			return dir, claim, nil
		}
	}
	return claimedDir("")
}

func claimedDir(parent string) (string, *os.File, error) {
	dir, err := os.MkdirTemp(parent, dirPrefix)
	if err != nil {
		return "", nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(dir))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return "", nil, errors.Join(err, f.Close(), os.Remove(dir))
	}
	return dir, f, nil
}

const (
	dirPrefix = "tunehost-ch-"
	// unclaimed is how long a new directory may be without its claim.
	unclaimed = time.Minute
)

// removeStale removes what processes that were killed could not: directories that
// nobody claims. Other users' are out of reach.
func removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > unclaimed {
			removeUnclaimed(dir)
		}
	}
}

func removeUnclaimed(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.RemoveAll(dir)
	}
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

// socket is one listening socket and the trial that has it now.
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

// retire accepts what has connected before the call, and nothing after it.
func (k *socket) retire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if conn, err := k.listener.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { k.acceptAll(int(fd)) })
	}
	k.serve = nil
}

// acceptAll hands over connections. It needs k.mu, so that none is on its way
// when retire returns.
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
