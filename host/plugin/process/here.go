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
	"time"

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
	c := &child{sockets: s.Sockets}
	c.cmd = exec.Command(path, s.Args...) // stdin stays nil: the null device
	c.cmd.Args[0] = s.Path
	c.cmd.Dir = s.Dir
	c.cmd.Env = append(h.environment(&s.Program), s.Handshake...)
	c.cmd.SysProcAttr = attributes(s.Outlives)
	if err := c.start(h.Tag); err != nil {
		return nil, &UnstartedError{s.notExecuted(err), err}
	}
	return c, nil
}

// child is a process of this machine.
type child struct {
	cmd      *exec.Cmd
	sockets  string
	out, err *os.File

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
		c.release()
	}
	return err
}

// drainWait is how long output is read after the process has ended: a process that left the group may
// hold the pipe for ever.
const drainWait = 500 * time.Millisecond

// Attend implements Child.
func (c *child) Attend(stdout, stderr io.WriteCloser) Exit {
	var pumps sync.WaitGroup
	pumps.Go(func() { pump(c.out, stdout) })
	pumps.Go(func() { pump(c.err, stderr) })
	c.reap()
	late := time.AfterFunc(drainWait, c.release)
	pumps.Wait()
	late.Stop()
	c.release()
	return exitOf(c.cmd.ProcessState)
}

// Output is read in parts of leastOutput bytes, because a process may print nothing, and up to mostOutput
// once it fills them.
const leastOutput, mostOutput = 1 << 10, 64 << 10

// pump writes an output to its end, so that the process does not wait, whether anybody takes it or not.
func pump(from io.Reader, to io.WriteCloser) {
	defer to.Close()
	buffer := make([]byte, leastOutput)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
		if n == len(buffer) && n < mostOutput {
			buffer = make([]byte, 4*n)
		}
	}
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
}

// setExited turns Kill off: the id may soon belong to another process.
func (c *child) setExited() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// PID implements Child.
func (c *child) PID() int { return c.cmd.Process.Pid }

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

// release ends the reading of the output.
func (c *child) release() { _, _ = c.out.Close(), c.err.Close() }

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
