package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk/quick"
)

// ThisMachine is this machine.
type ThisMachine struct {
	// Tag, if set, is called before a process is started, and marks this process, so that the new one
	// inherits the mark. The function that it returns is called afterwards, with the id of the new
	// process or 0, and removes the mark from this process.
	Tag func() (off func(pid int))
	// Environ, if not nil, is the environment of processes, as NAME=VALUE, instead of the short list of
	// variables that they inherit from this program.
	Environ []string
}

// Spawn implements Machine.
func (h ThisMachine) Spawn(ctx context.Context, s Spec) (Child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, program, err := s.pinned()
	if err != nil {
		return nil, &UnstartedError{err.Error(), err}
	}
	defer program.Close() // does nothing if there is none
	c := &child{sockets: s.Sockets, exited: make(chan struct{})}
	c.cmd = exec.Command(path, s.Args...) // stdin stays nil: the null device
	c.cmd.Args[0] = s.Path
	c.cmd.Dir = s.Dir
	c.cmd.Env = append(h.environment(&s.Program), s.Handshake...)
	c.cmd.SysProcAttr = attributes(s.Outlives)
	if err := c.start(h.Tag); err != nil {
		return nil, &UnstartedError{s.notExecuted(err), err}
	}
	go c.reap()
	return c, nil
}

// child is a process of this machine.
type child struct {
	cmd      *exec.Cmd
	sockets  string
	out, err *os.File
	exited   chan struct{}
	exit     Exit // valid once exited is closed

	mu   sync.Mutex
	gone bool
}

func (c *child) start(wear func() (off func(pid int))) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	c.out, c.err, c.cmd.Stdout, c.cmd.Stderr = outR, errR, outW, errW
	err = spawn(c.cmd, wear)
	_, _ = outW.Close(), errW.Close()
	if err != nil {
		c.Release()
	}
	return err
}

// reap waits for the process's end, kills the rest of its group while the id cannot be reused, and
// collects the status.
func (c *child) reap() {
	if awaitExit(c.PID()) {
		killGroup(c.PID())
		c.setExited()
	}
	_ = c.cmd.Wait() // the state says more
	c.setExited()
	c.exit = exitOf(c.cmd.ProcessState)
	close(c.exited)
}

// setExited turns Kill off: the id may soon belong to another process.
func (c *child) setExited() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// PID implements Child.
func (c *child) PID() int { return c.cmd.Process.Pid }

// Stdout implements Child.
func (c *child) Stdout() io.Reader { return c.out }

// Stderr implements Child.
func (c *child) Stderr() io.Reader { return c.err }

// Exited implements Child.
func (c *child) Exited() <-chan struct{} { return c.exited }

// Exit implements Child.
func (c *child) Exit() Exit { return c.exit }

// Signal implements Child.
func (c *child) Signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gone {
		signalGroup(c.PID(), s)
	}
}

// Kill implements Child.
func (c *child) Kill() { c.Signal(syscall.SIGKILL) }

// Release implements Child.
func (c *child) Release() { _, _ = c.out.Close(), c.err.Close() }

// Dial implements Child. It replaces go-plugin's dialer, which would connect to anything.
func (c *child) Dial(ctx context.Context, socket string) (net.Conn, error) {
	if err := checkSocket(c.sockets, socket); err != nil {
		return nil, &RefusedError{err.Error()}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn.(*net.UnixConn), c.PID()); err != nil {
		_ = conn.Close()
		return nil, &RefusedError{err.Error()}
	}
	return quick.Own(conn), nil
}

// checkSocket refuses sockets outside the directory made for a plugin.
func checkSocket(dir, socket string) error {
	within, err := filepath.Rel(dir, filepath.Clean(socket))
	if err != nil || within == ".." || strings.HasPrefix(within, "../") {
		return fmt.Errorf("its socket %q is not in PLUGIN_UNIX_SOCKET_DIR", brief(socket))
	}
	return nil
}
