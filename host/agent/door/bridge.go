package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// appears is how long a bridge waits for the socket of its agent.
	appears = time.Minute
	// lookEvery is how often it looks.
	lookEvery = 50 * time.Millisecond
)

// Bridge joins an input and an output with the socket at a path, which may appear within a minute. It ends when
// either side ends, or the context.
func Bridge(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	return carry(ctx, ctx, path, in, out)
}

// carry is Bridge, with a context for the time until the socket is reached and one for the time after it.
func carry(waiting, joined context.Context, path string, in io.Reader, out io.Writer) error {
	if err := checkPath(path); err != nil {
		return err
	}
	waiting, unwanted := context.WithCancelCause(waiting)
	defer unwanted(nil)
	words, more := io.Pipe()
	defer words.Close()
	go func() {
		_, err := io.Copy(more, in)
		unwanted(errUnwanted)
		_ = more.CloseWithError(err)
	}()
	conn, err := reach(waiting, path)
	if err != nil {
		if context.Cause(waiting) == errUnwanted {
			return errUnwanted
		}
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(joined, func() { _ = conn.Close() })()
	done := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(conn, words)
		done <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(out, conn)
		done <- struct{}{}
	}()
	<-done
	return nil
}

var errUnwanted = errors.New("the input has ended before the agent listened")

// reach connects to the socket as soon as it exists. Any other error ends the wait.
func reach(ctx context.Context, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, appears)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		conn, err := try(ctx, path)
		if err == nil {
			return conn, nil
		}
		if ctx.Err() == nil && !mayPass(err) {
			return nil, fmt.Errorf("cannot use the socket %s: %w", path, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("no agent listens on the socket %s: %w", path, err)
		}
	}
}

// try connects to the socket.
func try(ctx context.Context, path string) (net.Conn, error) {
	if err := private(filepath.Dir(path)); err != nil { // a stranger may have made it
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0: // to connect would be refused, as with the socket of a dead agent
		return nil, errors.New("it is not a socket")
	}
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

// mayPass reports whether an error may disappear when the agent listens.
func mayPass(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}
