//go:build !wasip1

package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Handshake constants of hosts and plugins. The cookie is not secret: with it a plugin detects that
// it was started by hand.
const (
	CookieKey   = "TUNEHOST_PLUGIN"
	CookieValue = "d2f0a5be-3a0f-4a55-8f63-2b8a4f2c9d17"
	// Protocol is the version of the protocol that this package implements.
	Protocol = 1
	// MaxMessage is the size in bytes of the largest message to a plugin: a snapshot of 16 MiB and
	// its frame.
	MaxMessage = 17 << 20
	// Window is how many bytes each side may send before the other has read them. It is fixed: windows
	// that gRPC adapts to the network cost a ping for each message, and there is no network.
	Window = 1 << 20
)

// endGrace is how long an author's code may run after the host is gone.
const endGrace = 5 * time.Second

// Run serves until the host has ended the plugin, and returns the exit status. It takes over the
// process's stdout. Programs that serve plugins of several kinds call it instead of [Searcher] and
// similar functions. In a WASM module it does not return: it ends the calling goroutine.
func Run(s Set) int {
	infos := s.infos()
	if len(infos) == 0 {
		fmt.Fprintln(os.Stderr, "this program serves no plugin: give serve.Run at least one")
		return 1
	}
	leaveEndToHost()
	log := Logger()
	services := newServices(s, log)
	return Server{
		Title: article(infos[0]), Register: services.register, End: services.end,
		Options: []grpc.ServerOption{grpc.UnaryInterceptor(translate(log))},
	}.Run()
}

// leaveEndToHost has the process live on when it gets SIGTERM. An engine sends that to all processes of a job that ends
// soon: of the job in which the host runs, or of that in which a trainable does. The plugin is needed until trials have
// saved; the host, or its agent, ends it. The programs that a plugin starts are not changed.
func leaveEndToHost() { signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) }

func article(i sdk.Info) string { return fmt.Sprintf("the %s %q", i.Kind, i.Name) }

// A Server serves plugins in another way, as the host's sandbox does; authors use [Set].
type Server struct {
	// Title names the plugin for a person who starts the program by hand: `the searcher "tpe"`.
	Title string
	// Options are additional options of the gRPC server.
	Options []grpc.ServerOption
	// Register registers services with the server.
	Register func(*grpc.Server)
	// End, if set, is called when the host has ended the plugin or is gone. The process ends when
	// it returns, or after 5 seconds.
	End func()
}

// Run serves until the host has ended the plugin, and returns the exit status. It takes over the
// process's stdout.
func (s Server) Run() int {
	out := newStdio() // before prepare, which makes os.Stdout a pipe
	certs, err := s.prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	host := watchHost(func() {
		s.end()
		os.Exit(1)
	})
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: map[int]plugin.PluginSet{Protocol: {"tunehost": registrar{register: s.Register}}},
		Logger:           newLogger(out.err),
		TLSProvider:      func() (*tls.Config, error) { return certs, nil },
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			opts = append(opts, grpc.MaxRecvMsgSize(MaxMessage), grpc.Creds(quickTLS(certs)),
				grpc.StaticStreamWindowSize(Window), grpc.StaticConnWindowSize(Window),
				grpc.ChainStreamInterceptor(withoutExtras), grpc.StatsHandler(&connections{host: host, stdio: out}))
			return grpc.NewServer(append(opts, s.Options...)...)
		},
	})
	host.ended()
	s.end()
	return 0
}

// withoutExtras refuses the two streams that go-plugin opens for what tunehost has in other ways: connections between
// plugins, and the plugin's output. A host would keep both open for each process.
func withoutExtras(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	switch info.FullMethod {
	case "/plugin.GRPCBroker/StartStream", "/plugin.GRPCStdio/StreamStdio":
		return status.Error(codes.Unimplemented, "tunehost does not use it")
	}
	return next(service, stream)
}

// prepare checks that a host has started the program, and creates its certificate.
func (s Server) prepare() (*tls.Config, error) {
	if os.Getenv(CookieKey) != CookieValue {
		return nil, fmt.Errorf("this is %s for tunehost, which starts it by itself; "+
			"name it in an experiment file, or try it with: tunehost plugins check %s", s.Title, os.Args[0])
	}
	certs, err := serverTLS(os.Getenv("PLUGIN_CLIENT_CERT"))
	if err != nil {
		return nil, err
	}
	return certs, announce(certs)
}

// end calls End and waits briefly.
func (s Server) end() {
	if s.End == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		s.End()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(endGrace):
	}
}

// Handshake is what go-plugin compares first.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: CookieKey, MagicCookieValue: CookieValue}
}

// Logger returns a logger to stderr whose lines the host reads with their level.
func Logger() hclog.Logger { return newLogger(os.Stderr) }

func newLogger(w *os.File) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: logWriter{w}, JSONFormat: true})
}

// registrar registers services with a gRPC server for go-plugin.
type registrar struct {
	plugin.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

var _ plugin.GRPCPlugin = registrar{}

// GRPCServer implements plugin.GRPCPlugin.
func (r registrar) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	r.register(g)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin; only hosts have clients.
func (registrar) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is the plugin's side")
}
