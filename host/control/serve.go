package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/runtimedir"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Handler is the host. Its methods may be called by several goroutines and
// return once the request is on its way into the record; errors are for the user, in
// one line.
type Handler interface {
	// Find is the trial of a number or an id.
	Find(name string) (uint32, error)
	// Stop ends a trial, or, for nil, the experiment; Pause and Unpause
	// likewise hold one or all.
	Stop(trial *uint32) error
	// Pause returns a [steer.LossError] where progress would be lost, unless force is set.
	Pause(trial *uint32, force bool) error
	Unpause(trial *uint32) error
	// Interrupt ends the host such that the experiment can go on later.
	Interrupt() error
	// Retry runs a trial in ERROR again; fresh: in a new directory.
	Retry(trial uint32, fresh bool) error
	// Add makes a trial of parameters, a JSON object, whole or partial.
	Add(params []byte) (trial uint32, err error)
	// Clone makes one of another's parameters, but for those given, which starts
	// from the other one's newest checkpoint.
	Clone(trial uint32, params []byte) (clone uint32, err error)
}

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
		return nil, nil, fmt.Errorf("no control socket: %w", err)
	}
	return l, remove, nil
}

// Announce says in the experiment's directory where the host listens; hide takes
// it back.
func Announce(d storage.Dir, l net.Listener) (hide func(), err error) {
	if err := Vacant(d); err != nil {
		return nil, err
	}
	if err := storage.WriteFile(d.Control(), []byte(l.Addr().String()+"\n")); err != nil {
		return nil, err
	}
	return func() {
		if Vacant(d) == nil {
			_ = nolink.Remove(d.Control())
		}
	}, nil
}

// Vacant is an error where somebody else's file is in the place of the one that says where
// a host listens. What a host left that was killed is none (B-155).
func Vacant(d storage.Dir) error {
	text, err := nolink.ReadFile(d.Control(), maxAddress)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case filepath.IsAbs(string(text)) && strings.HasSuffix(string(text), "/control\n") && strings.Count(string(text), "\n") == 1:
		return nil
	}
	return fmt.Errorf("%s has no address of a host: tunehost has a file of that name; move it away", d.Control())
}

// acceptPause is how long nobody is listened to for want of file descriptors.
const acceptPause = 50 * time.Millisecond

// Serve answers until the listener is closed, and returns when the last
// connection has its answer.
func Serve(l net.Listener, h Handler) error {
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
	handler Handler
	serving sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
}

// Whoever opens connections without end must not take the host's file descriptors.
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
	text, err := json.Marshal(answer{Error: fmt.Sprintf("the host answers %d others already: try again", maxOpen)})
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
	r, err := readRequest(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	if r.Add != nil {
		no, err := s.add(r.Add)
		if err != nil {
			return failed(err)
		}
		return answer{OK: true, Trial: &no}
	}
	if err := s.do(&r); err != nil {
		return failed(err)
	}
	return answer{OK: true}
}

func failed(err error) answer {
	var loss *steer.LossError
	return answer{Error: err.Error(), Loses: errors.As(err, &loss)}
}

// do carries out a request whose answer is that it was.
func (s *server) do(r *request) error {
	switch {
	case r.Stop != nil:
		return s.steer(r.Stop.Trial, s.handler.Stop)
	case r.Pause != nil:
		return s.steer(r.Pause.Trial, func(no *uint32) error { return s.handler.Pause(no, r.Pause.Force) })
	case r.Unpause != nil:
		return s.steer(r.Unpause.Trial, s.handler.Unpause)
	case r.Interrupt != nil:
		return s.handler.Interrupt()
	}
	no, err := s.handler.Find(r.Retry.Trial)
	if err != nil {
		return err
	}
	return s.handler.Retry(no, r.Retry.Fresh)
}

func (s *server) add(x *adding) (uint32, error) {
	if x.Clone == "" {
		return s.handler.Add(x.Params)
	}
	no, err := s.handler.Find(x.Clone)
	if err != nil {
		return 0, err
	}
	return s.handler.Clone(no, x.Params)
}

// steer does something to a trial, or, for "", to all.
func (s *server) steer(trial string, do func(*uint32) error) error {
	if trial == "" {
		return do(nil)
	}
	no, err := s.handler.Find(trial)
	if err != nil {
		return err
	}
	return do(&no)
}

// noHost says whether an error of dialling means that nobody is there.
func noHost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errRefused)
}
