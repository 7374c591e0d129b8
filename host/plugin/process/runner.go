package process

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin/runner"
)

// Why the host kills a plugin.
const (
	lateStart   = "its start took too long"
	failedStart = "it could not be used"
	noHandshake = "its stdout ended before the handshake"
	brokenCall  = "it has closed its connection"
	lateClose   = "it was to end, and did not"
	stuckRun    = "one of its trials did not begin, answer or end in time"
	abort       = "tunehost was told to end at once"
)

// drainWait is how long output is still read after the process has ended:
// something that left its group may hold the pipe for ever.
const drainWait = 500 * time.Millisecond

// runner starts the process for go-plugin and owns its pipes. go-plugin sees
// one checked line of stdout and none of stderr.
type runner struct {
	config  *Config
	path    string   // what is executed
	program *os.File // open until the start where path is a link to it
	dir     string
	id      *identity
	cmd     *exec.Cmd
	output  *output

	stdout    *io.PipeReader // the handshake line, then nothing
	handshake *io.PipeWriter
	readers   []*os.File
	pumps     sync.WaitGroup

	exited chan struct{} // closed when the process has ended
	ended  chan struct{} // closed when it is gone and read out

	mu      sync.Mutex
	process int // its id; 0 before the start
	gone    bool
	killed  string // why the host has killed it; "" where it has not
	exit    error  // as of exec.Cmd.Wait
	refused error  // what was wrong with its handshake
	socket  string // where it listens
}

var _ goplugin.Runner = (*runner)(nil)

func newRunner(c *Config, dir string, id *identity) *runner {
	r := &runner{config: c, dir: dir, id: id, output: newOutput(c.Log), exited: make(chan struct{}), ended: make(chan struct{})}
	r.stdout, r.handshake = io.Pipe()
	return r
}

// build is go-plugin's RunnerFunc: spec holds the variables that it wants set.
func (r *runner) build(_ hclog.Logger, spec *exec.Cmd, _ string) (goplugin.Runner, error) {
	r.cmd = exec.Command(r.path, r.config.Args...)
	r.cmd.Args[0] = r.config.Path
	r.cmd.Dir = r.config.Dir
	r.cmd.Env = append(environment(r.config), spec.Env...)
	r.cmd.Env = append(r.cmd.Env, "PLUGIN_CLIENT_CERT="+r.id.caPEM)
	r.cmd.SysProcAttr = attributes(r.config.Outlives)
	return r, nil // stdin stays nil: the null device
}

// Start implements goplugin.Runner.
func (r *runner) Start(context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	r.cmd.Stdout, r.cmd.Stderr = outW, errW
	err = spawn(r.cmd, r.config.Wear)
	_, _ = outW.Close(), errW.Close()
	_ = r.program.Close() // nothing where there is none
	if err != nil {
		_, _, _ = outR.Close(), errR.Close(), r.handshake.Close()
		close(r.ended)
		return err
	}
	r.mu.Lock()
	r.process = r.cmd.Process.Pid
	r.mu.Unlock()
	living.add(r)
	r.readers = []*os.File{outR, errR}
	r.pumps.Go(func() { r.readStdout(outR) })
	r.pumps.Go(func() { copyLines(errR, r.lines("stderr")) })
	go r.reap()
	return nil
}

// readStdout hands the first line to go-plugin if it is a handshake that this
// host can use; all that follows is log.
func (r *runner) readStdout(f *os.File) {
	in := bufio.NewReaderSize(f, maxHandshake)
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		r.refuse(errLongHandshake)
	case err == nil || len(line) > 0:
		h, err := parseHandshake(string(line))
		if err != nil {
			r.refuse(err)
			break
		}
		r.mu.Lock()
		r.socket = h.address
		r.mu.Unlock()
		_, _ = io.WriteString(r.handshake, h.line+"\n")
	}
	_ = r.handshake.Close()
	copyLines(in, r.lines("stdout"))
}

// lines is where a stream of the process is written to, to become its log.
func (r *runner) lines(stream string) *lineWriter {
	return &lineWriter{to: r.output, stream: stream}
}

func (r *runner) refuse(err error) {
	r.mu.Lock()
	r.refused = err
	r.mu.Unlock()
}

// reap waits for the process's end, kills what is left of its group while its
// id cannot have been given to another, and collects the status.
func (r *runner) reap() {
	if awaitExit(r.pid()) {
		killGroup(r.pid())
		r.setGone(nil)
	}
	err := r.cmd.Wait()
	r.setGone(err)
	close(r.exited)
	r.drain()
	living.remove(r)
	close(r.ended)
}

// setGone makes kill do nothing: the id may soon be another's.
func (r *runner) setGone(exit error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone, r.exit = true, exit
}

// drain lets the pumps read what is left, and then takes the pipes away.
func (r *runner) drain() {
	done := make(chan struct{})
	go func() {
		r.pumps.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainWait):
	}
	for _, f := range r.readers {
		_ = f.Close()
	}
	_ = r.stdout.Close()
	<-done
	r.output.finish()
}

// kill kills the group at once and keeps the first reason; when the process is gone it
// does nothing.
func (r *runner) kill(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == 0 || r.gone {
		return
	}
	r.killed = cmp.Or(r.killed, why)
	killGroup(r.process)
}

// killReason is why the host has killed the process; "" where it has not.
func (r *runner) killReason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.killed
}

func (r *runner) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process
}

// status says how the process ended: "exited with status 3", "was ended by
// signal 9 (killed)", "was killed by tunehost (its start took too long)"; "" while it
// runs. It waits up to the time given.
func (r *runner) status(wait time.Duration) string {
	select {
	case <-r.ended:
	case <-time.After(wait):
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil || r.cmd.ProcessState == nil {
		return ""
	}
	if signal, ok := endSignal(r.cmd.ProcessState); ok && signal == syscall.SIGKILL && r.killed != "" {
		return "was killed by tunehost (" + r.killed + ")"
	}
	return describeExit(r.cmd.ProcessState)
}

// signalled says that the process has ended, by a signal that was not the host's.
func (r *runner) signalled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed != "" || r.cmd == nil || r.cmd.ProcessState == nil {
		return false
	}
	_, ok := endSignal(r.cmd.ProcessState)
	return ok
}

// Wait implements goplugin.Runner.
func (r *runner) Wait(context.Context) error {
	<-r.ended
	return r.exit
}

// Kill implements goplugin.Runner. A process whose stdout ends without a handshake is
// most often about to end: how it ends says more than that the host has killed it.
func (r *runner) Kill(context.Context) error {
	if !r.silent() {
		r.kill("go-plugin cannot use it")
		return nil
	}
	select {
	case <-r.exited:
	case <-time.After(orDefault(r.config.CloseGrace, defaultCloseGrace)):
	}
	r.kill(noHandshake)
	return nil
}

// silent says that the process has written nothing that could be a handshake.
func (r *runner) silent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.socket == "" && r.refused == nil
}

// ID implements goplugin.Runner; "" before the start.
func (r *runner) ID() string {
	if pid := r.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Name implements goplugin.Runner.
func (r *runner) Name() string { return r.config.title() }

// Stdout implements goplugin.Runner.
func (r *runner) Stdout() io.ReadCloser { return r.stdout }

// Stderr implements goplugin.Runner: go-plugin's own parser panics on a line
// like {"@message": 5}, so it is given none.
func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(eof{}) }

// Diagnose implements goplugin.Runner; our messages do not need it.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost implements goplugin.Runner.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements goplugin.Runner.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

func describeExit(s *os.ProcessState) string {
	if signal, ok := endSignal(s); ok {
		return fmt.Sprintf("was ended by signal %d (%v)", int(signal), signal)
	}
	return fmt.Sprintf("exited with status %d", s.ExitCode())
}
