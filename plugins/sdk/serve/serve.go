package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// Handshake constants that host and plugins share. The cookie is no secret: it
// lets a plugin notice that it was started by hand.
const (
	CookieKey   = "TUNEHOST_PLUGIN"
	CookieValue = "d2f0a5be-3a0f-4a55-8f63-2b8a4f2c9d17"
	// Protocol is the version of the protocol that this package speaks.
	Protocol = 1
	// MaxMessage is the size in bytes of the largest message that a plugin
	// takes: a snapshot of 16 MiB and its frame.
	MaxMessage = 17 << 20
)

// endGrace is the time that an author's code has to return once the host is gone.
const endGrace = 5 * time.Second

// Set is what one program serves: at most one plugin of each kind.
type Set struct {
	Searcher  *sdk.SearcherPlugin
	Scheduler *sdk.SchedulerPlugin
	Trainable *sdk.TrainablePlugin
	Reporter  *sdk.ReporterPlugin
}

// Searcher serves a searcher and exits the process.
func Searcher(p sdk.SearcherPlugin) { os.Exit(Run(Set{Searcher: &p})) }

// Scheduler serves a scheduler and exits the process.
func Scheduler(p sdk.SchedulerPlugin) { os.Exit(Run(Set{Scheduler: &p})) }

// Trainable serves a trainable and exits the process.
func Trainable(p sdk.TrainablePlugin) { os.Exit(Run(Set{Trainable: &p})) }

// Reporter serves a reporter and exits the process.
func Reporter(p sdk.ReporterPlugin) { os.Exit(Run(Set{Reporter: &p})) }

// Run serves until the host has ended the plugin, and returns the exit status.
// It takes over the process's stdout. A program that serves plugins of several
// kinds calls it instead of [Searcher] and its like.
func Run(s Set) int {
	if err := startable(s, os.Getenv(CookieKey)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	certs, err := serverTLS(os.Getenv("PLUGIN_CLIENT_CERT"))
	if err == nil {
		err = announce(certs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := newStdio()
	log := newLogger(out.err)
	services := newServices(s, log)
	host := watchHost(func() {
		services.end()
		os.Exit(1)
	})
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: map[int]plugin.PluginSet{Protocol: {"tunehost": services}},
		Logger:           log,
		TLSProvider:      func() (*tls.Config, error) { return certs, nil },
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts,
				grpc.MaxRecvMsgSize(MaxMessage), grpc.StatsHandler(&connections{host: host, stdio: out}))...)
		},
	})
	host.ended()
	services.end()
	return 0
}

// Handshake is what go-plugin compares before anything else.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: CookieKey, MagicCookieValue: CookieValue}
}

// startable says why a program should not serve: it has nothing to, or was
// started by a person.
func startable(s Set, cookie string) error {
	infos := s.infos()
	if len(infos) == 0 {
		return errors.New("this program serves no plugin: give serve.Run at least one")
	}
	if cookie != CookieValue {
		return fmt.Errorf("this is %s for tunehost, which starts it by itself; "+
			"name it in an experiment file, or try it with: tunehost plugins check %s", article(infos[0]), os.Args[0])
	}
	return nil
}

func article(i sdk.Info) string { return fmt.Sprintf("the %s %q", i.Kind, i.Name) }

// infos describes what there is to serve.
func (s Set) infos() (infos []sdk.Info) {
	add := func(k sdk.Kind, i sdk.Info) {
		i.Kind = k
		infos = append(infos, i)
	}
	if s.Searcher != nil {
		add(sdk.KindSearcher, s.Searcher.Info)
	}
	if s.Scheduler != nil {
		add(sdk.KindScheduler, s.Scheduler.Info)
	}
	if s.Trainable != nil {
		add(sdk.KindTrainable, s.Trainable.Info)
	}
	if s.Reporter != nil {
		add(sdk.KindReporter, s.Reporter.Info)
	}
	return infos
}

// newLogger writes JSON lines that the host reads with their level.
func newLogger(w io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: w, JSONFormat: true})
}

// services puts the set on a gRPC server.
type services struct {
	plugin.NetRPCUnsupportedPlugin
	searcher  *searcherServer
	scheduler *schedulerServer
	trainable *trainableServer
	reporter  *reporterServer
}

var _ plugin.GRPCPlugin = (*services)(nil)

func newServices(s Set, log hclog.Logger) *services {
	out := &services{}
	if s.Searcher != nil {
		out.searcher = &searcherServer{plugin: *s.Searcher, log: log}
	}
	if s.Scheduler != nil {
		out.scheduler = &schedulerServer{plugin: *s.Scheduler, log: log}
	}
	if s.Trainable != nil {
		out.trainable = &trainableServer{plugin: *s.Trainable, log: log}
	}
	if s.Reporter != nil {
		out.reporter = &reporterServer{plugin: *s.Reporter, log: log}
	}
	return out
}

// GRPCServer implements plugin.GRPCPlugin.
func (s *services) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	if s.searcher != nil {
		pb.RegisterSearcherServiceServer(g, s.searcher)
	}
	if s.scheduler != nil {
		pb.RegisterSchedulerServiceServer(g, s.scheduler)
	}
	if s.trainable != nil {
		pb.RegisterTrainableServiceServer(g, s.trainable)
	}
	if s.reporter != nil {
		pb.RegisterReporterServiceServer(g, s.reporter)
	}
	return nil
}

// GRPCClient implements plugin.GRPCPlugin; only hosts have clients.
func (*services) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is the plugin's side")
}

// end tells training code to return, closes a reporter, and gives them a moment
// for it.
func (s *services) end() {
	if s.trainable == nil && s.reporter == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s.trainable != nil {
			s.trainable.end()
		}
		if s.reporter != nil {
			s.reporter.end()
		}
	}()
	select {
	case <-done:
	case <-time.After(endGrace):
	}
}
