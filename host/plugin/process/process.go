package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// Limits of plugin processes.
const (
	defaultStartTimeout = time.Minute
	defaultCloseGrace   = 5 * time.Second
	// maxReceive is the largest message from a plugin, in bytes.
	maxReceive = 4 << 20
	// maxSnapshot is the largest snapshot, in bytes.
	maxSnapshot = 16 << 20
	// exitWait is how long a broken connection waits for the process's exit status, which makes a better
	// message.
	exitWait = 10 * time.Second
)

// Program describes the process of a plugin, independently of the machine.
type Program struct {
	// Kind is the kind to start it as; "": the first kind that it announces, see [Process.Infos].
	Kind sdk.Kind
	Name string
	// Path is the program, absolute or relative to Dir; Args are its arguments, without the program.
	Path string
	Args []string
	// Dir is the working directory; "": that of the program that starts it.
	Dir string
	// SHA256, if set, is the hex checksum (see [Hash]) that the program's file must have now. On Linux a
	// checked binary is executed through the file that was read. Files are checksums of more files, by
	// path.
	SHA256 string
	Files  map[string]string
	// Inherit names variables that the plugin gets from the program that starts it, beside PATH, HOME,
	// LANG and TMPDIR. Env are more variables, as NAME=VALUE.
	Inherit []string
	Env     []string
	// StartTimeout is the time to answer the handshake (0: a minute), and CloseGrace the time to end in
	// order (0: 5 s).
	StartTimeout time.Duration
	CloseGrace   time.Duration
	// Outlives says that the plugin is not killed with the program that started it: it ends itself once
	// the processes that it started have ended.
	Outlives bool
}

// Config describes a plugin process to start.
type Config struct {
	Program
	// Log is called with each line that the process prints, in order, by one goroutine for each stream; it
	// may be nil. LogPath is the file with these lines; messages name it if there are any.
	Log     func(Line)
	LogPath string
	// On is the machine on which it starts; nil: this one.
	On Machine
}

func (c *Config) machine() Machine {
	if c.On == nil {
		return ThisMachine{}
	}
	return c.On
}

func (c *Config) title() string {
	if c.Kind == "" {
		return fmt.Sprintf("plugin %q", c.Name)
	}
	return fmt.Sprintf("%s %q", c.Kind, c.Name)
}

// kind is what the program is expected to be.
func (c *Config) kind() string {
	if c.Kind == "" {
		return sdk.AnyKind()
	}
	return string(c.Kind)
}

// Process is a plugin that runs as a program.
type Process struct {
	config Config
	dir    *runtimedir.Folder // of the socket, private
	runner *runner
	client *goplugin.Client
	conn   *grpc.ClientConn
	infos  []sdk.Info // the first has the kind that it was started as
	future future

	mu     sync.Mutex
	opened bool
	killed *plugin.Error // why the host has killed it

	ending  atomic.Bool // Close was called
	closing sync.Once
	closed  chan struct{}
}

var _ plugin.Plugin = (*Process)(nil)

// Start starts a plugin and connects to it. If the context ends first, the process is killed. Errors
// are *plugin.Error of the kind NotStarted.
func Start(ctx context.Context, config Config) (*Process, error) {
	p := &Process{config: config, closed: make(chan struct{})}
	if err := p.prepare(); err != nil {
		return nil, &plugin.Error{Plugin: config.title(), Failure: plugin.NotStarted,
			What: "cannot be started: " + err.Error(), Err: err}
	}
	begun := time.Now()
	within, cancel := context.WithTimeout(ctx, p.startTimeout())
	defer cancel()
	stop := context.AfterFunc(within, func() { p.runner.kill(lateStart) })
	err := p.connect(within)
	if !stop() && err == nil {
		err = within.Err()
	}
	if err != nil {
		err = p.startFailure(ctx, within, begun, err)
		p.runner.kill(failedStart)
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// prepare makes everything that the process needs.
func (p *Process) prepare() (err error) {
	id, err := ownIdentity()
	if err == nil {
		p.dir, err = runtimedir.Make()
	}
	if err != nil {
		return err
	}
	p.runner = newRunner(&p.config, p.dir.Path(), id, &p.ending)
	p.client = goplugin.NewClient(p.clientConfig(id))
	return nil
}

// file is the file that is executed, as the program that starts it sees it.
func (c *Program) file() string {
	if c.Dir == "" || filepath.IsAbs(c.Path) {
		return c.Path
	}
	return filepath.Join(c.Dir, c.Path)
}

func (p *Process) clientConfig(id *identity) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig:  serve.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{serve.Protocol: {"tunehost": dispenser{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc:       p.runner.build,
		SkipHostEnv:      true,
		TLSConfig:        id.clientTLS(),
		StartTimeout:     2 * p.startTimeout(), // ours is shorter
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.dir.Path()},
		SyncStdout:       p.runner.lines("stdout"),
		SyncStderr:       p.runner.lines("stderr"),
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithContextDialer(p.runner.dial),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceive)),
			grpc.WithIdleTimeout(0),
			// The default is 32 KiB, which a host of 1,000 processes would have for each. TLS below has a buffer of its
			// own.
			grpc.WithReadBufferSize(0),
			grpc.WithStaticStreamWindowSize(serve.Window),
			grpc.WithStaticConnWindowSize(serve.Window),
			grpc.WithUnaryInterceptor(p.future.call),
			grpc.WithStreamInterceptor(p.future.stream),
		},
	}
}

func (p *Process) startTimeout() time.Duration {
	return orDefault(p.config.StartTimeout, defaultStartTimeout)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// connect starts the process, shakes hands and asks it what it is. go-plugin can panic on what a
// plugin announces.
func (p *Process) connect(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its handshake cannot be used: %v", v)
		}
	}()
	c, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := c.Dispense("tunehost")
	if err != nil {
		return err
	}
	p.conn = raw.(*grpc.ClientConn)
	return p.identify(ctx)
}

// dispenser returns the connection itself.
type dispenser struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (dispenser) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is the host's side")
}

func (dispenser) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// PID returns the process's id.
func (p *Process) PID() int { return p.runner.pid() }

// Kill ends the process and its group at once, because of one of its trials.
func (p *Process) Kill() { p.runner.kill(stuckRun) }

// Close asks the process to end, and kills it with its group after the grace period. It returns when
// the process is gone.
func (p *Process) Close() error {
	p.ending.Store(true)
	p.closing.Do(p.end)
	<-p.closed
	return nil
}

// end never waits for the plugin longer than the grace period, as go-plugin's Kill would.
func (p *Process) end() {
	defer close(p.closed)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // as in connect
		p.client.Kill()
	}()
	select {
	case <-done:
	case <-time.After(orDefault(p.config.CloseGrace, defaultCloseGrace)):
		p.runner.kill(lateClose)
		<-done
	}
	p.runner.kill(lateClose)
	_ = p.dir.Remove()
}

// destroy kills the process at once; later calls return the reason.
func (p *Process) destroy(why *plugin.Error) {
	p.mu.Lock()
	if p.killed == nil {
		p.killed = why
	}
	p.mu.Unlock()
	p.runner.kill(why.What)
}

// KillAll kills every plugin process of this program, for a host that must end now (B-024, B-025).
func KillAll() { living.killAll() }
