package process

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin/runner"
)

// Reasons why the host kills a plugin.
const (
	lateStart   = "its start took too long"
	failedStart = "it could not be used"
	noHandshake = "its stdout ended before the handshake"
	brokenCall  = "it has closed its connection"
	lateClose   = "it did not end when it was told to"
	stuckRun    = "one of its trials did not begin, answer or end in time"
	abort       = "tunehost was told to end immediately"
)

// runner starts the process for go-plugin and reads its output. go-plugin sees one checked line of
// stdout and none of stderr.
type runner struct {
	config *Config
	dir    string
	id     *identity
	spec   Spec
	child  Child // nil before the start
	output *output

	stdout    *io.PipeReader // the handshake line, then nothing
	handshake *io.PipeWriter

	ending *atomic.Bool  // whether the host has told it to end, and kills it itself after the grace period
	ended  chan struct{} // closed when it is gone and its output is read

	mu      sync.Mutex
	gone    bool
	killed  string // why the host has killed it, or ""
	exit    *Exit
	refused error  // the mistake in its handshake
	socket  string // where it listens
}

var _ goplugin.Runner = (*runner)(nil)

func newRunner(c *Config, dir string, id *identity, ending *atomic.Bool) *runner {
	r := &runner{config: c, dir: dir, id: id, output: newOutput(c.Log), ending: ending, ended: make(chan struct{})}
	r.stdout, r.handshake = io.Pipe()
	return r
}

// build is go-plugin's RunnerFunc: spec has the variables that go-plugin sets.
func (r *runner) build(_ hclog.Logger, spec *exec.Cmd, _ string) (goplugin.Runner, error) {
	r.spec = Spec{Program: r.config.Program, Sockets: r.dir,
		Handshake: append(spec.Env, "PLUGIN_CLIENT_CERT="+r.id.caPEM)}
	return r, nil
}

// Start implements goplugin.Runner.
func (r *runner) Start(ctx context.Context) error {
	child, err := r.config.machine().Spawn(ctx, r.spec)
	if err != nil {
		_ = r.handshake.Close()
		close(r.ended)
		return err
	}
	r.mu.Lock()
	r.child = child
	if r.killed != "" { // its time was up before it had begun
		child.Kill()
	}
	r.mu.Unlock()
	living.add(r)
	go r.attend(child)
	return nil
}

// lines returns the writer that turns a stream of the process into its log.
func (r *runner) lines(stream string) *lineWriter {
	return &lineWriter{to: r.output, stream: stream}
}

func (r *runner) refuse(err error) {
	r.mu.Lock()
	r.refused = err
	r.mu.Unlock()
}

// attend reads the output of the process, and waits for its end.
func (r *runner) attend(child Child) {
	exit := child.Attend(&opening{runner: r, rest: r.lines("stdout")}, r.lines("stderr"))
	r.mu.Lock()
	r.gone, r.exit = true, &exit
	r.mu.Unlock()
	living.remove(r)
	r.output.finish()
	close(r.ended)
}

// kill kills the group at once and keeps the first reason. A process that has not begun is killed when it
// begins; after its end it does nothing.
func (r *runner) kill(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return
	}
	r.killed = cmp.Or(r.killed, why)
	if r.child != nil {
		r.child.Kill()
	}
}

// killReason returns why the host has killed the process, or "".
func (r *runner) killReason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.killed
}

func (r *runner) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		return 0
	}
	return r.child.PID()
}

// dial connects to the socket that the plugin announced. It replaces go-plugin's dialer.
func (r *runner) dial(ctx context.Context, _ string) (net.Conn, error) {
	r.mu.Lock()
	socket, child := r.socket, r.child
	r.mu.Unlock()
	conn, err := child.Dial(ctx, socket)
	if _, refused := errors.AsType[*RefusedError](err); refused {
		r.refuse(err)
	}
	return conn, err
}

// status says how the process ended: "exited with status 3", "was ended by signal 9 (killed)", "was
// killed by tunehost (its start took too long)"; "" while it runs. It waits for at most the given
// time.
func (r *runner) status(wait time.Duration) string {
	select {
	case <-r.ended:
	case <-time.After(wait):
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.exit == nil:
		return ""
	case r.exit.Signal == syscall.SIGKILL && r.killed != "":
		return "was killed by tunehost (" + r.killed + ")"
	}
	return r.exit.String()
}

// signalled reports whether the process was ended by a signal that the host did not send.
func (r *runner) signalled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.killed == "" && r.exit != nil && r.exit.Signal != 0
}

// unreachable returns why the end of the process is not known, or "".
func (r *runner) unreachable() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exit == nil {
		return ""
	}
	return r.exit.Unreachable
}

// Wait implements goplugin.Runner.
func (r *runner) Wait(context.Context) error {
	<-r.ended
	return nil // status says how it ended
}

// Kill implements goplugin.Runner. go-plugin calls it two seconds after it has told a process to end, which may
// have more time than that to save what it has. A process whose stdout ends without a handshake is usually about to
// end: its own end says more than a kill by the host.
func (r *runner) Kill(context.Context) error {
	if r.ending.Load() {
		<-r.ended
		return nil
	}
	if !r.silent() {
		r.kill("go-plugin cannot use it")
		return nil
	}
	select {
	case <-r.ended:
	case <-time.After(orDefault(r.config.CloseGrace, defaultCloseGrace)):
	}
	r.kill(noHandshake)
	return nil
}

// silent reports that the process has written nothing that could be a handshake.
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

// Stderr implements goplugin.Runner with an empty stream: go-plugin's own parser panics on a line like
// {"@message": 5}.
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
