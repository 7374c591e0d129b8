package door

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

const (
	dirMode    = 0o700
	socketMode = 0o600
	// lastWords is how long a connection can be read when there is a newer one: the host may have closed it after an
	// answer that is still to be read.
	lastWords = 200 * time.Millisecond
	// maxPath is the longest path of a unix socket, in bytes.
	maxPath = 107
)

// Door takes connections on a unix socket. Each of them leads to the host, and serves once. The newest one alone
// does: an executor opens another one when the last one is of no use, which nothing on this side says if the command
// that carried it was killed, and what it had started on the node lives on.
type Door struct {
	path     string
	made     bool // the folder was made
	listener net.Listener
	ways     chan *way // the newest that nobody has taken
	newest   *way      // of accept alone
}

// Open listens on a socket. It makes the folder of the socket, or refuses one that others can access. The
// socket of an agent that has died is replaced.
func Open(path string) (*Door, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	d := &Door{path: path, ways: make(chan *way, 1)}
	if err := d.listen(); err != nil {
		return nil, fmt.Errorf("cannot listen on the socket %s: %w", path, err)
	}
	go d.accept()
	return d, nil
}

// checkPath refuses the path of a socket that can never be used.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || len(path) > maxPath {
		return fmt.Errorf("the socket %q: expected an absolute path of at most %d bytes", path, maxPath)
	}
	return nil
}

// private refuses the folder of a socket that others can access. It may be one that must be open to others, such as
// /tmp, so that the advice is to take another.
func private(dir string) error {
	err := runtimedir.Private(dir)
	if shared, ok := errors.AsType[*runtimedir.SharedError](err); ok {
		return fmt.Errorf("other users can read the folder %s; give a socket in a folder that only you can access",
			shared.Dir)
	}
	return err
}

func (d *Door) listen() error {
	dir := filepath.Dir(d.path)
	err := os.Mkdir(dir, dirMode)
	if d.made = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := private(dir); err != nil {
		return err
	}
	if err := removeStale(d.path); err != nil {
		return err
	}
	if d.listener, err = net.Listen("unix", d.path); err != nil {
		return err
	}
	return os.Chmod(d.path, socketMode)
}

// removeStale removes a socket on which nobody listens. Anything else belongs to somebody else, and
// stays.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("there is something else; remove it")
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
		return errors.New("another agent listens there")
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// accept keeps the newest connection, and ends the one before it, whether or not it was taken.
func (d *Door) accept() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.keep(&way{Conn: conn})
	}
}

func (d *Door) keep(newest *way) {
	if old := d.newest; old != nil {
		old.replaced.Store(true)
		_ = old.SetReadDeadline(time.Now().Add(lastWords))
	}
	d.newest = newest
	for {
		select {
		case d.ways <- newest:
			return
		case unused := <-d.ways: // the old one
			_ = unused.Close()
		}
	}
}

// Take waits for a connection.
func (d *Door) Take(ctx context.Context) (net.Conn, error) {
	select {
	case conn := <-d.ways:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Await waits until Take would not wait, or the context ends.
func (d *Door) Await(ctx context.Context) {
	select {
	case conn := <-d.ways:
		select {
		case d.ways <- conn:
		default: // there is a newer one
			_ = conn.Close()
		}
	case <-ctx.Done():
	}
}

// Close ends the listening, and removes the socket and the folder that was made for it.
func (d *Door) Close() error {
	err := d.listener.Close() // it removes the socket
	select {
	case conn := <-d.ways:
		_ = conn.Close()
	default:
	}
	if d.made {
		_ = os.Remove(filepath.Dir(d.path)) // others may have put something there
	}
	return err
}

// way is a connection with a name for messages.
type way struct {
	net.Conn
	replaced atomic.Bool // by a newer one
}

var errReplaced = errors.New("the engine has opened another one")

// Read implements net.Conn.
func (w *way) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil && w.replaced.Load() {
		err = errReplaced
	}
	return n, err
}

// Name is the name of the connection through a door. Other connections have addresses.
const Name = "the engine's connection (stdio)"

type address struct{}

func (address) Network() string { return "stdio" }
func (address) String() string  { return Name }

// RemoteAddr implements net.Conn.
func (*way) RemoteAddr() net.Addr { return address{} }
