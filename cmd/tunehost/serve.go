package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/validate/examine"
)

func (a *app) serveCommand() *cobra.Command {
	var site serve.Site
	cmd := &cobra.Command{
		Use:   "serve [DIR|URL...]",
		Short: "Show and control experiments over HTTP",
		Long: `Show and control experiments over HTTP. DIR is a folder of experiments, or the directory
of one; the default is ./results. URL is a storage elsewhere, such as s3://BUCKET/PREFIX, or an
experiment in one: it is shown for reading. Experiments that begin later appear by themselves. The
command prints a URL with a token, which gives access to everything the user can do, and
another one for reading. Programs send one of those in ~/.config/tunehost as Authorization:
Bearer TOKEN.

The server listens on this machine alone, at port 7733 or, if that is in use, at another,
which it says. On Linux the URL has an address of its own, so that nothing which an earlier
program has left in the browser sees the token. Programs read the URL from serve-url, beside the
token in ~/.config/tunehost, while the server runs: at a fixed address, another user's program
could get the token. To use the server from another machine, run the printed ssh command there.
To listen for other machines, name an address with --listen, and a certificate with --tls-cert
and --tls-key.

Hosts do not depend on the server: when it ends, the experiments continue.`,
		Example: `  tunehost serve
  tunehost serve results ~/other/results --listen 127.0.0.1:8000
  cd ~/.config/tunehost
  curl -H "Authorization: Bearer $(cat serve-token)" "$(cat serve-url)/api/v1/experiments"`,
		Args: wants(0, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.serve(site, []string{"results"}, true)
			}
			return a.serve(site, args, false)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&site.Listen, "listen", "", "listen at `ADDRESS:PORT` instead of "+serve.DefaultAddress)
	siteFlags(flags, &site)
	return cmd
}

// siteFlags adds the flags of a server, without its address.
func siteFlags(flags *pflag.FlagSet, site *serve.Site) {
	flags.StringArrayVar(&site.Hosts, "host", nil, "also answer to this `NAME` of the server in URLs; may be repeated")
	flags.StringVar(&site.Cert, "tls-cert", "", "use HTTPS, with the certificate in `FILE`")
	flags.StringVar(&site.Key, "tls-key", "", "the key of the certificate is in `FILE`")
	flags.BoolVar(&site.Insecure, "insecure", false, "listen for other machines without TLS")
	flags.BoolVar(&site.Fresh, "new-tokens", false, "replace the tokens; earlier URLs are no longer valid")
}

// ofServer names the first flag of a server that is set; "" if none is.
func ofServer(site *serve.Site) string {
	switch {
	case len(site.Hosts) > 0:
		return "--host"
	case site.Cert != "":
		return "--tls-cert"
	case site.Key != "":
		return "--tls-key"
	case site.Insecure:
		return "--insecure"
	case site.Fresh:
		return "--new-tokens"
	}
	return ""
}

// serve serves folders. With later, the folders need not exist yet: the first experiment makes
// them.
func (a *app) serve(site serve.Site, folders []string, later bool) error {
	for _, dir := range folders {
		if err := servable(dir, later); err != nil {
			return err
		}
	}
	open, err := site.Open()
	if err != nil {
		return err
	}
	a.sayOpen(open)
	serve.LimitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return a.server(open, false, folders...).Serve(ctx, open)
}

// servable refuses a path that cannot hold experiments.
func servable(dir string, later bool) error {
	if mirror.IsURL(dir) {
		return asUsage(serve.CheckStorage(dir))
	}
	if err := slashes(dir); err != nil {
		return err
	}
	switch info, err := os.Stat(dir); {
	case later && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return usage("%s does not exist: expected a folder of experiments, such as ./results, or the directory of one",
			dir)
	case err != nil:
		return asUsage(err)
	case !info.IsDir():
		return usage("%s: this is a file, expected a folder of experiments, such as ./results", dir)
	}
	return listable(dir)
}

// listable refuses a folder that this user may not list: it would be shown as empty.
func listable(dir string) error {
	f, err := os.Open(dir)
	if err == nil {
		_, err = f.Readdirnames(1)
		_ = f.Close() // open for reading only
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return usage("%s: you have no permission to list this folder: its owner can give it with chmod u+rx or g+rx",
			dir)
	}
	return asUsage(err)
}

func (a *app) server(open *serve.Open, single bool, folders ...string) *serve.Server {
	open.Guard.Warn = func(err error) { fmt.Fprintf(a.err, "warning: %s\n", clean(err.Error())) }
	return serve.New(serve.Options{Single: single, Registry: plugins, Folders: folders,
		Guard: open.Guard, Keys: open.Keys, Check: examine.Settings{Plugins: plugins}, Version: host.Version(),
		Shown: func(dir string) string { return untrusted.Word(relative(dir)) }})
}

// sayOpen prints how to reach the server. It goes to standard error: standard output may be data.
func (a *app) sayOpen(open *serve.Open) {
	if open.Note != "" {
		fmt.Fprintf(a.err, "%s\n", open.Note)
	}
	a.warn(open.Warnings)
	fmt.Fprintf(a.err, "%s\n", open.URL)
	for _, other := range open.Others {
		fmt.Fprintf(a.err, "also: %s\n", other)
	}
	if open.SSH != "" {
		fmt.Fprintf(a.err, "from another machine: %s\n", open.SSH)
	}
	fmt.Fprintf(a.err, "for reading only: %s\n", open.ReadURL)
}

// runServer serves an experiment that this process runs.
type runServer struct {
	mu     sync.Mutex
	open   *serve.Open   // nil: the user wants no server
	server *serve.Server // nil before the experiment runs
	stop   func()
	over   bool
	ended  chan struct{}
}

// serveRun serves an experiment while it runs, if the user wants that. If the port is taken, it fails before
// the experiment begins.
func (a *app) serveRun(f *runFlags) (*runServer, error) {
	x := &runServer{ended: make(chan struct{})}
	if f.serve == "" {
		return x, nil
	}
	if f.site.Listen = f.serve; f.serve == serve.DefaultAddress {
		f.site.Listen = "" // any free port is enough
	}
	f.site.Flag = "--serve"
	open, err := f.site.Open()
	if err != nil {
		return nil, err
	}
	x.open = open
	a.sayOpen(open)
	f.OnStart = func(r host.Running) {
		server := a.server(open, true, r.View.Dir.Path())
		ctx, ok := x.begin(server)
		if !ok {
			return
		}
		defer close(x.ended)
		if err := server.Serve(ctx, open); err != nil {
			fmt.Fprintf(a.err, "warning: the experiment is not served any more: %v\n", err)
		}
	}
	return x, nil
}

// begin notes the server. ok is false if the experiment has already ended.
func (x *runServer) begin(s *serve.Server) (ctx context.Context, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return nil, false
	}
	ctx, x.stop = context.WithCancel(context.Background())
	x.server = s
	return ctx, true
}

// close ends what listens, also if no server has begun: programs do not find its URL any more.
func (x *runServer) close() {
	if x.open != nil {
		_ = x.open.Close() // the server has closed it, too
	}
}

// end ends the server. Open pages read before that how the experiment has ended, unless there is another signal. A
// server that stays ends with a signal alone.
func (x *runServer) end(stays bool) {
	x.mu.Lock()
	x.over = true
	x.mu.Unlock() // the server does not change any more
	if x.server == nil {
		return
	}
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGUSR1)
	defer done()
	if stays {
		<-ctx.Done()
	} else {
		x.server.Farewell(ctx)
	}
	x.stop()
	select {
	case <-x.ended: // what is being answered is answered
	case <-ctx.Done():
	}
}

// endServer ends the server of an experiment that has ended. For a user at a terminal it stays until Ctrl-C: they want
// to look at the result, and a short experiment ends before they have opened the URL.
func (a *app) endServer(x *runServer, ended host.Ended) {
	if x.open == nil {
		return
	}
	stays := x.server != nil && ended.Outcome != core.InterruptedByUser && a.attended()
	if stays {
		// the first line with the URL has left the screen: the table of trials is longer
		fmt.Fprintf(a.err, "the experiment has ended; its server stays until Ctrl-C: %s\n", x.open.URL)
	}
	x.end(stays)
	fmt.Fprintf(a.err, "the server has ended%s; `tunehost serve %s` shows the experiment\n",
		map[bool]string{false: " with the experiment"}[stays], untrusted.Word(relative(ended.Dir)))
}

// attended reports whether a user sees the output, and their Ctrl-C would reach this process: it is not in the
// background.
func (a *app) attended() bool {
	f, ok := a.in.(*os.File)
	if !ok || !a.terminal() || !a.interactive() {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
