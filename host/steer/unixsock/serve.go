package unixsock

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/internal/lazily"
)

// Listen makes a socket in a folder of the user's alone. Closing the listener removes
// the socket; the folder is removed by remove, or after this process's death by the
// next host.
func Listen() (l net.Listener, remove func(), err error) {
	dir, err := runtimedir.Make()
	if err != nil {
		return nil, nil, fmt.Errorf("no directory for the control socket: %w", err)
	}
	remove = func() { _ = dir.Remove() }
	l, err = net.Listen("unix", filepath.Join(dir.Path(), "control"))
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("no control socket: %w; set TMPDIR to a directory of your own", err)
	}
	return l, remove, nil
}

// Announce says in the experiment's directory where the host listens; hide takes it back. On a full disk it warns, and
// does so once there is room.
func Announce(d storage.Dir, l net.Listener, warn func(string)) (hide func(), err error) {
	return announce(d, func() error {
		if err := Vacant(d); err != nil {
			return err
		}
		return storage.WriteFile(d.Control(), []byte(l.Addr().String()+"\n"))
	}, warn)
}

func announce(d storage.Dir, write func() error, warn func(string)) (hide func(), err error) {
	giveUp := func() {}
	err = write()
	switch {
	case storage.IsFull(err):
		warn("until the disk has room, this experiment cannot be controlled by other commands: " + err.Error())
		giveUp = later(write, warn)
	case err != nil:
		return nil, err
	}
	return func() {
		giveUp()
		if Vacant(d) == nil {
			_ = nolink.Remove(d.Control())
		}
	}, nil
}

// roomPause is how long a host waits before it looks again for room for its address. Tests have a shorter one.
var roomPause = time.Second

// later writes once there is room, unless that is given up before.
func later(write func() error, warn func(string)) (giveUp func()) {
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(roomPause)
		defer tick.Stop()
		for err := error(syscall.ENOSPC); storage.IsFull(err); {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if err = write(); err != nil && !storage.IsFull(err) {
				warn("this experiment cannot be controlled by other commands: " + err.Error())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-over
	})
}

// Vacant is an error where somebody else's file is in the place of the one that says where a host listens. What a host
// left that was killed is none (B-155), whole or damaged: nobody needs it where no host holds the experiment's lock.
func Vacant(d storage.Dir) error {
	text, err := nolink.ReadFile(d.Control(), maxAddress)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case storage.Mine(d.Control()) && ofHost(string(text)):
		return nil
	}
	return fmt.Errorf("%s has no address of a host: tunehost has a file of that name; move it away", d.Control())
}

// homes matches an address up to the folder in which a host has its socket, or its beginning that ends there.
var homes = lazily.Regexp(`^[^\n]*/tunehost(-[0-9]+)?(/h[0-9a-z]{6}/|/?$|/h[0-9a-z]{0,6}$)`)

// ofHost reports whether a host can have written a text that may have been damaged since: it is an address, with
// something else at its end or not, the beginning of one, or nothing is left.
func ofHost(text string) bool {
	whole := filepath.IsAbs(text) && strings.HasSuffix(text, "/control\n") && strings.Count(text, "\n") == 1
	return whole || homes().MatchString(text) || strings.Trim(text, "\x00") == "" ||
		slices.ContainsFunc(runtimedir.Roots(), func(root string) bool { return strings.HasPrefix(root, text) })
}

// acceptPause is how long the server waits for free file descriptors.
const acceptPause = 50 * time.Millisecond

// Serve answers until the listener is closed, and returns when the last
// connection has its answer.
func Serve(l net.Listener, h steer.Handler) error {
	s := server{handler: h, open: map[net.Conn]bool{}}
	defer s.end()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			time.Sleep(acceptPause) // until others have closed some
			continue
		}
		if err != nil {
			return err
		}
		s.start(conn)
	}
}

type server struct {
	handler steer.Handler
	serving sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
}

// A client that opens connections without end must not use up the host's file descriptors.
const (
	maxOpen = 128
	idle    = time.Minute // for which one may say nothing
)

func (s *server) start(conn net.Conn) {
	s.mu.Lock()
	many := len(s.open) >= maxOpen
	if !many {
		s.open[conn] = true
	}
	s.mu.Unlock()
	if many {
		refuse(conn)
		return
	}
	s.serving.Go(func() {
		s.serve(conn)
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
		_ = conn.Close()
	})
}

// refuse tells one connection too many why it has no answer. It does not wait.
func refuse(conn net.Conn) {
	defer conn.Close()
	text, err := json.Marshal(answer{Busy: true,
		Error: fmt.Sprintf("the host answers %d others already: try again", maxOpen)})
	if err == nil && conn.SetWriteDeadline(time.Now().Add(acceptPause)) == nil {
		_, _ = conn.Write(append(text, '\n'))
	}
}

// end hears no further requests, and waits for the answers to those it has
// heard.
func (s *server) end() {
	s.mu.Lock()
	for conn := range s.open {
		if c, ok := conn.(interface{ CloseRead() error }); ok {
			_ = c.CloseRead()
		}
	}
	s.mu.Unlock()
	s.serving.Wait()
}

func (s *server) serve(conn io.ReadWriter) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLineBytes)
	for await(conn) && lines.Scan() {
		// One who asks and reads no answers must not hold up the host's end.
		if c, ok := conn.(net.Conn); ok && c.SetWriteDeadline(time.Now().Add(timeout)) != nil {
			return
		}
		text, err := json.Marshal(s.answer(lines.Bytes()))
		if err != nil {
			panic(err) // a struct of plain fields
		}
		if _, err := conn.Write(append(text, '\n')); err != nil {
			return
		}
	}
}

// await gives a connection its time to say something.
func await(conn io.ReadWriter) bool {
	c, ok := conn.(net.Conn)
	return !ok || c.SetReadDeadline(time.Now().Add(idle)) == nil
}

func (s *server) answer(line []byte) answer {
	line, open := unwrap(line)
	r, err := steer.Decode(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if !open() {
		return answer{Error: steer.ErrGivenUp.Error(), Busy: true}
	}
	h := s.handler
	if t, ok := h.(steer.Timely); ok {
		h = t.While(open)
	}
	a, err := h.Do(r)
	if err != nil {
		var loss *steer.LossError
		var mistake *usererror.Error
		var busy *steer.BusyError
		return answer{Error: err.Error(), Loses: errors.As(err, &loss), Mistake: errors.As(err, &mistake),
			Busy: errors.As(err, &busy)}
	}
	return answer{OK: true, Answer: a}
}

// unwrap returns the request of a line, and whether it may still be carried out.
func unwrap(line []byte) (request []byte, open func() bool) {
	var t timely
	if json.Unmarshal(line, &t) != nil || t.Request == nil {
		return line, func() bool { return true }
	}
	return t.Request, func() bool { return now() < t.Before }
}

// noHost says whether an error of dialling means that nobody is there.
func noHost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errRefused)
}
