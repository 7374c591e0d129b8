package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/untrusted"
)

var resumeModes = []string{"auto", "local", "remote", "prompt", "never", "errored_only", "errored_restart",
	"errored_resume"}

// again adds the flags that run ended trials again.
func (f *runFlags) again(flags *pflag.FlagSet) {
	again := &f.Again
	flags.BoolVar(&again.Errored, "errored", false, "run all failed trials again, from the beginning")
	flags.BoolVar(&again.Unstarted, "unstarted", false, "run the trials that were stopped before they started")
	flags.BoolVar(&again.Paused, "unpause", false, "continue all paused trials, also those that the scheduler paused")
	flags.StringArrayVar(&again.Trials, "retry", nil,
		"run the failed `TRIAL` again, from its last checkpoint; may be repeated")
	flags.BoolVar(&again.Fresh, "fresh", false, "with --retry: start from the beginning, in a new directory")
	flags.StringArrayVar(&again.Copies, "copy", nil,
		"train the parameters of `TRIAL` once more, in a new trial; may be repeated")
	flags.StringArrayVar(&again.Clones, "clone", nil,
		"as --copy, from the newest checkpoint of `TRIAL`; may be repeated")
}

// runFlags are the flags of run and resume.
type runFlags struct {
	host.Options
	noFail bool
	// request: a server has started this host for a client.
	request bool
	// serve is the address to serve the experiment at; "" for not.
	serve string
	site  serve.Site
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|-",
		Short: "Run an experiment, or resume it",
		Long: `Run an experiment, or resume it where it stopped.

Ctrl-C once interrupts the experiment: the trials save a checkpoint if they can, and the
experiment can be resumed later. SIGTERM, SIGHUP, SIGUSR1 and tunehost interrupt DIR do
the same. Ctrl-C twice kills all processes immediately; everything recorded is kept.

If an experiment of this name exists, the command resumes it. With --resume never, the
command starts a new experiment under the next free name, NAME-2 and so on.

A finished experiment continues if it may run more trials (--set trials=200). With
--extend it can also continue with another searcher, another scheduler or a wider space.
The searcher knows all earlier trials.

With - as FILE the command reads the experiment from standard input.

Exit status: 0 success, 1 a trial or the run failed, 2 a mistake in the file
or the command line, 130 interrupted.`,
		Example: `  tunehost run digits.yaml
  tunehost run digits.yaml --set trials=200 --set scheduler.max=81 --name more
  tunehost run digits.yaml --set trials=200 --set searcher=tpe --extend`,
		Args: wants(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.File = args[0]
			x, err := a.asked(&f, args[0])
			if err != nil {
				return err
			}
			return a.drive(&f, func(ctx context.Context) (host.Ended, error) { return a.engine.run(ctx, x, f.Options) })
		},
	}
	flags := cmd.Flags()
	setFlag(flags, &f.Options)
	flags.StringVar(&f.Storage, "storage", "", "store results in `DIR`, a directory or a URL")
	flags.StringVar(&f.Name, "name", "", "`NAME` of the experiment and its directory")
	flags.BoolVar(&f.Extend, "extend", false, "resume with another searcher, scheduler or a wider space, if the "+
		"file or --set changes them")
	flags.StringVar(&f.Resume, "resume", "auto", "`MODE`: "+strings.Join(resumeModes, ", "))
	name := strings.TrimPrefix(serve.RequestFlag, "--")
	flags.BoolVar(&f.request, name, false, "standard input has the request of a client, not a file")
	_ = flags.MarkHidden(name) // for servers
	f.add(cmd)
	return cmd
}

// asked is the experiment that the user or the client of a server wants to run.
func (a *app) asked(f *runFlags, file string) (host.Experiment, error) {
	if !f.request {
		return a.experiment(file)
	}
	x, err := serve.ReadAsked(a.in)
	if err != nil {
		err = usage("run %s: only `tunehost serve` uses it; standard input has no request: %v", serve.RequestFlag, err)
	}
	f.Name, f.Sets = x.Name, x.Sets
	return host.Text("experiment.yaml", []byte(x.File)), err
}

// mostText is the size of the largest experiment file on standard input.
const mostText = 1 << 20

// experiment reads the experiment of a file, or of standard input for "-". Paths in the latter
// begin in the working directory.
func (a *app) experiment(file string) (host.Experiment, error) {
	if file != "-" {
		return host.File(file), nil
	}
	text, err := io.ReadAll(io.LimitReader(a.in, mostText+1))
	if err == nil && len(text) > mostText {
		err = usage("run -: the experiment has more than %d bytes; expected an experiment file", mostText)
	}
	return host.Text("experiment.yaml", text), err
}

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Resume an experiment from its directory alone",
		Long: `Resume an experiment from its directory alone, with the experiment file that is
recorded there. The host runs the command and the plugins that this file names: if you
got the directory from somebody else, read its experiment.yaml and run.json first.`,
		Example: "  tunehost resume results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.drive(&f, func(ctx context.Context) (host.Ended,
				error) {
				return a.engine.resume(ctx, args[0], f.Options)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Resources, "resources", "",
		"resources to use instead of those detected, as `cpu=16,gpu=2`")
	flags.BoolVar(&f.Share, "share", false, "share GPUs and CPUs with other experiments on this machine")
	flags.IntVarP(&f.Verbose, "verbose", "v", 1, "`0..3`: silent, status, brief results, all results")
	flags.BoolVar(&f.noFail, "no-fail", false, "exit with status 0 even if trials failed")
	acceptFlag(flags, &f.Options)
	trustDirFlag(flags, &f.Options)
	f.again(flags)
	flags.StringVar(&f.serve, "serve", "", "show and control the experiment over HTTP, with --serve=ADDRESS:PORT at "+
		"`ADDRESS:PORT`; see tunehost serve")
	flags.Lookup("serve").NoOptDefVal = serve.DefaultAddress
	siteFlags(flags, &f.site)
	jsonFlag(flags, &f.JSON, "print one JSON object a line for each event")
}

// refuseEmpty refuses flags of any command with an empty value, as from an unset shell variable: they would do nothing,
// or something else than the user means.
func refuseEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			what, _ := pflag.UnquoteUsage(f)
			err = usage("--%s is empty, expected a value for %s; omit --%[1]s if it is to have no effect", f.Name, what)
		}
	})
	return err
}

// overrides is the value of --set.
type overrides struct{ sets *[]string }

func setFlag(flags *pflag.FlagSet, o *host.Options) {
	flags.Var(overrides{&o.Sets}, "set", "override a key of the file, as `KEY=VALUE`; may be repeated")
}

// Set implements pflag.Value.
func (x overrides) Set(text string) error {
	if err := config.CheckSet(*x.sets, text); err != nil {
		return usage("--set %v", err)
	}
	*x.sets = append(*x.sets, text)
	return nil
}

// Type implements pflag.Value.
func (overrides) Type() string { return "stringArray" }

// String implements pflag.Value.
func (overrides) String() string { return "" }

func acceptFlag(flags *pflag.FlagSet, o *host.Options) {
	flags.BoolVar(&o.AcceptPlugins, "accept-plugins", false, "resume even if plugins have changed since the "+
		"experiment began")
}

func trustDirFlag(flags *pflag.FlagSet, o *host.Options) {
	flags.BoolVar(&o.TrustDir, "trust-dir", false, "use the directory even if other users can change files in it")
}

func (f *runFlags) check() error {
	if f.Verbose < 0 || f.Verbose > 3 {
		return usage("-v %d: expected 0 (silent), 1 (status), 2 (brief results) or 3 (all results)", f.Verbose)
	}
	if f.Again.Fresh && len(f.Again.Trials) == 0 {
		return usage("--fresh goes with --retry TRIAL")
	}
	if flag := ofServer(&f.site); flag != "" && f.serve == "" {
		return usage("%s goes with --serve", flag)
	}
	for _, known := range append(resumeModes, "") {
		if f.Resume == known {
			return nil
		}
	}
	return usage("--resume %q: expected %s%s", f.Resume, strings.Join(resumeModes, ", "),
		nearest.Hint(f.Resume, resumeModes))
}

// drive runs until the end or a signal, and reports the result.
func (a *app) drive(f *runFlags, run func(context.Context) (host.Ended, error)) error {
	if err := f.check(); err != nil {
		return err
	}
	f.Stdout, f.Stderr, f.Plugins, f.Ask = a.screen, a.err, plugins, a.ask
	if f.JSON {
		f.Stdout = a.out
	}
	if f.Verbose > 0 && !f.JSON {
		f.Waits = a.waiting.on
	}
	f.Exit = host.NewExit(a.err)
	survivePipes()
	server, err := a.serveRun(f)
	if err != nil {
		return err
	}
	defer server.close()
	f.Await("the experiment to start")
	ended, err := a.untilSignalled(f.Exit, run)
	a.waiting.on("")
	if err != nil {
		return err
	}
	a.endServer(server, ended)
	if ended.Outcome == core.Failed { // regardless of what else is shown (B-077)
		fmt.Fprintf(a.err, "tunehost: the experiment has failed and is saved: %s\n", untraced(ended.Reason))
	}
	if ended.Outcome == core.Finished && ended.NonFinite != "" {
		fmt.Fprintf(a.err, "tunehost: %s: look at what the program prints (`tunehost logs %s 0`)\n", ended.NonFinite,
			untrusted.Word(relative(ended.Dir)))
	}
	return f.verdict(ended)
}

// untraced is a failure on one line, without the traceback below it.
func untraced(reason string) string {
	var lines []string
	for line := range strings.Lines(reason) {
		if strings.HasPrefix(line, "Traceback") || strings.TrimLeft(line, " \t") != line {
			break
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return strings.Join(lines, "; ")
}

// verdict returns the exit status of a run that came to its end (B-078).
func (f *runFlags) verdict(ended host.Ended) error {
	switch {
	case ended.Outcome == core.InterruptedByUser:
		return exitError(exitInterrupted)
	case ended.Outcome == core.Failed, ended.Errored > 0 && !f.noFail,
		ended.Outcome == core.Finished && ended.NonFinite != "":
		return exitError(exitFailed)
	}
	return nil
}

// untilSignalled ends the run's context with the first signal, and everything with the second (B-024).
func (a *app) untilSignalled(exit *host.Exit, run func(context.Context) (host.Ended, error)) (host.Ended, error) {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
	defer signal.Stop(signals)
	ended := make(chan end, 1)
	go func() {
		x, err := run(ctx)
		ended <- end{x, err}
	}()
	var first request
	for {
		select {
		case x := <-ended:
			return x.Ended, x.error
		case s := <-signals:
			switch {
			case ctx.Err() == nil:
				exit.Ask(interruptText(exit))
				interrupt()
				first = request{s, a.now()}
			case first.again(s, a.now()):
				return a.killAll(exit, ended)
			}
		}
	}
}

// survivePipes lets writes to a pipe without a reader fail, as in tunehost run | head. Without it the
// system would end the host, and the experiment with it. The signal is not ignored, because the programs
// of trials would inherit that.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// end is how a run has ended.
type end struct {
	host.Ended
	error
}

// interruptText says what the first signal does.
func interruptText(exit *host.Exit) string {
	doing := "interrupting"
	if x, ok := exit.EndingForGood(); ok {
		doing = map[core.Outcome]string{core.StoppedByUser: "stopping", core.Finished: "ending"}[x.Outcome]
	}
	return "tunehost: " + doing + ": trials save and end; Ctrl-C again kills them now"
}

// killAll kills everything at once. An experiment that is ending for good still ends: its host records
// the end, if that does not take long.
func (a *app) killAll(exit *host.Exit, ended <-chan end) (host.Ended, error) {
	ending, forGood := exit.EndingForGood()
	if !forGood {
		exit.Now()
		a.engine.abort()
		return host.Ended{}, exitError(exitInterrupted)
	}
	a.engine.abort()
	select {
	case x := <-ended:
		return x.Ended, x.error
	case <-time.After(host.LastWord):
	}
	exit.Now()
	a.engine.abort() // processes that were started since
	return ending, nil
}

// ask asks a yes-or-no question.
func (a *app) ask(question string) bool {
	a.waiting.on("") // the line would replace the question
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // the end of input means no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
