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
	"sync"

	"github.com/tunehost/tunehost/host/runtimedir"
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
	Pause(trial *uint32) error
	Unpause(trial *uint32) error
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
	if err := storage.WriteFile(d.Control(), []byte(l.Addr().String()+"\n")); err != nil {
		return nil, err
	}
	return func() { _ = nolink.Remove(d.Control()) }, nil
}

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

func (s *server) start(conn net.Conn) {
	s.mu.Lock()
	s.open[conn] = true
	s.mu.Unlock()
	s.serving.Go(func() {
		s.serve(conn)
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
		_ = conn.Close()
	})
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
	for lines.Scan() {
		text, err := json.Marshal(s.answer(lines.Bytes()))
		if err != nil {
			panic(err) // a struct of plain fields
		}
		if _, err := conn.Write(append(text, '\n')); err != nil {
			return
		}
	}
}

func (s *server) answer(line []byte) answer {
	r, err := readRequest(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	switch {
	case r.Add != nil:
		no, err := s.add(r.Add)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{OK: true, Trial: &no}
	case r.Stop != nil:
		err = s.steer(r.Stop, s.handler.Stop)
	case r.Pause != nil:
		err = s.steer(r.Pause, s.handler.Pause)
	default:
		err = s.steer(r.Unpause, s.handler.Unpause)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{OK: true}
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

func (s *server) steer(t *target, do func(*uint32) error) error {
	if t.Trial == "" {
		return do(nil)
	}
	no, err := s.handler.Find(t.Trial)
	if err != nil {
		return err
	}
	return do(&no)
}

// noHost says whether an error of dialling means that nobody is there.
func noHost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errRefused)
}
