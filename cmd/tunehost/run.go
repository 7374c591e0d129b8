package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/nearest"
)

var resumeModes = []string{"auto", "local", "remote", "prompt", "never", "errored_only", "errored_restart", "errored_resume"}

// again are the flags that have trials run again which have ended.
func (f *runFlags) again(flags *pflag.FlagSet) {
	again := &f.Again
	flags.BoolVar(&again.Errored, "errored", false, "run the trials that failed again, from their beginning")
	flags.BoolVar(&again.Unstarted, "unstarted", false, "run the trials that were ended before they had ever started")
	flags.StringArrayVar(&again.Trials, "retry", nil, "run the failed `TRIAL` again, from its last checkpoint; may be repeated")
	flags.BoolVar(&again.Fresh, "fresh", false, "with --retry: from its beginning, in a new directory")
}

// runFlags are those of run and resume.
type runFlags struct {
	host.Options
	noFail bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run an experiment, or go on with it",
		Long: `Run an experiment, or go on with it where it was.

Ctrl-C once: the trials are stopped in order and the experiment can go on later.
SIGTERM, SIGHUP and SIGUSR1 do the same, and so does tunehost interrupt DIR.
Ctrl-C twice: everything is killed at once; what was recorded stays.

An experiment of this name that is there is gone on with; with --resume never it is left
as it is, and a new one gets the next free name, NAME-2 and so on.

A finished experiment goes on with more trials (--set trials=200), and with --extend
also with another searcher, another scheduler or a wider space. The searcher knows all
trials that there are.

Exit status: 0 success, 1 a trial or the run failed, 2 a mistake in the file
or the command line, 130 interrupted.`,
		Example: `  tunehost run digits.yaml
  tunehost run digits.yaml --set trials=200 --set scheduler.max=81 --name more
  tunehost run digits.yaml --set trials=200 --set searcher=tpe --extend`,
		Args: wants(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.File = args[0]
			if err := saysSomething(cmd.Flags(), "name", "storage"); err != nil {
				return err
			}
			return a.drive(&f, func(ctx context.Context) (host.Ended, error) { return a.engine.run(ctx, f.Options) })
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Sets, "set", nil, "override a key of the file, as `KEY=VALUE`; may be repeated")
	flags.StringVar(&f.Storage, "storage", "", "where results go, a `DIR` or a URL")
	flags.StringVar(&f.Name, "name", "", "`NAME` of the experiment and its directory")
	flags.BoolVar(&f.Extend, "extend", false, "go on with another searcher, scheduler or a wider space, where the file or --set has them changed")
	flags.StringVar(&f.Resume, "resume", "auto", "`MODE`: "+strings.Join(resumeModes, ", "))
	f.add(cmd)
	return cmd
}

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "resume DIR",
		Short: "Go on with an experiment from its directory alone",
		Long: `Go on with an experiment from its directory alone, with the file that it was
begun with. This runs the command and the plugins that the directory's file names:
read experiment.yaml and run.json first where the directory is from somebody else.`,
		Example: "  tunehost resume results/digits",
		Args:    wants(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.drive(&f, func(ctx context.Context) (host.Ended, error) { return a.engine.resume(ctx, args[0], f.Options) })
		},
	}
	f.add(cmd)
	return cmd
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Resources, "resources", "", "what the machine offers instead of what was found, as `cpu=16,gpu=2`")
	flags.BoolVar(&f.Share, "share", false, "use GPUs and CPUs that other experiments on this machine use, too")
	flags.IntVarP(&f.Verbose, "verbose", "v", 1, "`0..3`: silent, status, brief results, all results")
	flags.BoolVar(&f.noFail, "no-fail", false, "exit 0 even when trials have failed")
	acceptFlag(flags, &f.Options)
	trustDirFlag(flags, &f.Options)
	f.again(flags)
	jsonFlag(flags, &f.JSON, "print one JSON object a line for each event")
}

// saysSomething refuses flags that are given with nothing, as by a variable of a shell that is
// not set: they would do nothing.
func saysSomething(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f := flags.Lookup(name); f.Changed && f.Value.String() == "" {
			what, _ := pflag.UnquoteUsage(f)
			return usage("--%s is empty, expected a %s; leave --%s out for what the file says", name, what, name)
		}
	}
	return nil
}

func acceptFlag(flags *pflag.FlagSet, o *host.Options) {
	flags.BoolVar(&o.AcceptPlugins, "accept-plugins", false, "go on with plugins that have changed since the experiment began")
}

func trustDirFlag(flags *pflag.FlagSet, o *host.Options) {
	flags.BoolVar(&o.TrustDir, "trust-dir", false, "work in the directory also where other users can change what is in it")
}

func (f *runFlags) check() error {
	if f.Verbose < 0 || f.Verbose > 3 {
		return usage("-v %d: expected 0 (silent), 1 (status), 2 (brief results) or 3 (all results)", f.Verbose)
	}
	if f.Again.Fresh && len(f.Again.Trials) == 0 {
		return usage("--fresh goes with --retry TRIAL")
	}
	for _, known := range append(resumeModes, "") {
		if f.Resume == known {
			return nil
		}
	}
	return usage("--resume %q: expected %s%s", f.Resume, strings.Join(resumeModes, ", "), nearest.Hint(f.Resume, resumeModes))
}

// drive runs until the end or a signal, and says how it went.
func (a *app) drive(f *runFlags, run func(context.Context) (host.Ended, error)) error {
	if err := f.check(); err != nil {
		return err
	}
	f.Stdout, f.Stderr, f.Terminal, f.Plugins, f.Ask = a.screen, a.err, a.terminal(), plugins, a.ask
	if f.JSON {
		f.Stdout = a.out
	}
	f.Exit = host.NewExit(a.err)
	ended, err := a.untilSignalled(f.Exit, run)
	if err != nil {
		return err
	}
	if ended.Outcome == core.Failed { // whatever else is shown or is not (B-077)
		fmt.Fprintf(a.err, "tunehost: the experiment has failed and is saved: %s\n", untraced(ended.Reason))
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

// verdict is the exit status of a run that came to its end (B-078).
func (f *runFlags) verdict(ended host.Ended) error {
	switch {
	case ended.Outcome == core.InterruptedByUser:
		return exitError(exitInterrupted)
	case ended.Outcome == core.Failed, ended.Errored > 0 && !f.noFail:
		return exitError(exitFailed)
	}
	return nil
}

// untilSignalled ends the run's context with the first signal and everything with the
// second (B-024). SIGUSR1 is never the second: a batch system may send it more than once.
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
	for {
		select {
		case x := <-ended:
			return x.Ended, x.error
		case s := <-signals:
			switch {
			case ctx.Err() == nil:
				exit.Ask(interruptText(exit))
				interrupt()
			case s != syscall.SIGUSR1:
				return a.leave(exit, ended)
			}
		}
	}
}

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
	return "tunehost: " + doing + ": the trials end in order; Ctrl-C once more leaves at once"
}

// leave kills everything at once. An experiment that is ending for good ends that way: its
// host records it, where that does not take long.
func (a *app) leave(exit *host.Exit, ended <-chan end) (host.Ended, error) {
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
	a.engine.abort() // what was started since
	return ending, nil
}

// ask asks a question that is answered with yes or no.
func (a *app) ask(question string) bool {
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n') // the end of input is a no
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
