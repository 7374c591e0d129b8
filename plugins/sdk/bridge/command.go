package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endsWithin is how long a command may take to end once its input is closed. It is asked to end then, because one that
// is killed may leave what it has started elsewhere, and killed soon after.
const (
	endsWithin = 5 * time.Second
	diesWithin = 2 * time.Second
)

// Command starts a command and returns its standard input and output. Close ends the input, and ends the command
// if it does not end by itself. An error of Read is the last line that it has printed to its standard error.
func Command(cmd *exec.Cmd) (io.ReadWriteCloser, error) {
	c := &command{cmd: cmd, ended: make(chan struct{}), grace: endsWithin}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	c.in, c.out = in, r
	cmd.Stdout, cmd.Stderr = w, &c.errs
	cmd.WaitDelay = time.Second // a child may hold the output open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := cmd.Wait()
		_ = w.CloseWithError(c.why(err))
		close(c.ended)
	}()
	return c, nil
}

type command struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *io.PipeReader
	errs  tail
	ended chan struct{}
	once  sync.Once
	grace time.Duration
}

// why is the error of Read at the end.
func (c *command) why(err error) error {
	if err == nil {
		return io.EOF
	}
	name := filepath.Base(c.cmd.Path)
	if last := c.errs.line(); last != "" {
		return fmt.Errorf("%s: %s", name, last)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Read implements io.Reader.
func (c *command) Read(p []byte) (int, error) { return c.out.Read(p) }

// Write implements io.Writer.
func (c *command) Write(p []byte) (int, error) { return c.in.Write(p) }

// Close implements io.Closer.
func (c *command) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		_ = c.out.CloseWithError(errClosed)
		ask := time.AfterFunc(c.grace, func() { _ = c.cmd.Process.Signal(syscall.SIGTERM) })
		defer ask.Stop()
		kill := time.AfterFunc(c.grace+diesWithin, func() { _ = c.cmd.Process.Kill() })
		<-c.ended
		kill.Stop()
	})
	return nil
}

var errClosed = errors.New("the command was closed")

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4096

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

// line is the last line.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return strings.Join(strings.Fields(string(lines[len(lines)-1])), " ")
}
