package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/host/view"
)

// app is the environment of the commands.
type app struct {
	env map[string]string
	in  io.Reader
	// out and err escape text that could hide or control a terminal.
	out, err io.Writer
	// screen writes to out unescaped: for drawings on a terminal, whose text is cleaned when it is made.
	screen io.Writer
	// kept is the writer below out.
	kept    *output
	waiting *waiting
	// start starts plugins that are examined, and end ends what they leave behind.
	start  loading.Starter
	end    func()
	engine engine
	now    func() time.Time
	// later calls a function after a time, unless stop is called before.
	later func(time.Duration, func()) (stop func() bool)
}

func later(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

func newApp(env []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{env: map[string]string{}, in: stdin, screen: stdout, engine: hostEngine, now: time.Now, later: later}
	a.start, a.end = host.Outside(plugins)
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			a.env[name] = value
		}
	}
	a.waiting = waitingOn(stderr, a.env["TERM"])
	a.kept = &output{to: a.waiting.past(stdout)}
	a.out, a.err = untrusted.NewWriter(a.kept, untrusted.Bold), untrusted.NewWriter(a.waiting.past(stderr), nil)
	return a
}

// Groups of commands in the help.
const (
	running  = "running"
	reading  = "looking"
	steering = "steering"
	other    = "other"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tunehost",
		Short: "Tune hyperparameters",
		Long: `tunehost tunes hyperparameters: it runs the trials of an experiment file, as many
at a time as fit, and finds the best.`,
		Example: `  tunehost run digits.yaml                # run or resume an experiment
  tunehost best results/digits            # show its best trial`,
		Version:       host.Version(),
		SilenceErrors: true, SilenceUsage: true,
		Args:              cobra.ArbitraryArgs, // knownCommand has checked them
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return refuseEmpty(cmd.Flags()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cobra.EnableCommandSorting = false // keep the order of use
	root.AddGroup(&cobra.Group{ID: running, Title: "Run:"},
		&cobra.Group{ID: reading, Title: "Inspect experiments, also while they run:"},
		&cobra.Group{ID: steering, Title: "Control running experiments:"}, &cobra.Group{ID: other, Title: "More:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(running, a.runCommand(), a.resumeCommand(), a.validateCommand(), a.askTellCommand(), a.simulateCommand())
	add(reading, a.lsCommand(), a.statusCommand(), a.trialsCommand(), a.resultsCommand(), a.bestCommand(),
		a.importanceCommand(), a.lineageCommand(), a.plotCommand(), a.logsCommand(), a.watchCommand(),
		a.serveCommand(), a.journalCommand(), a.replayCommand())
	add(steering, a.stopCommand(), a.interruptCommand(), a.pauseCommand(), a.unpauseCommand(), a.retryCommand(),
		a.addCommand(), a.setCommand())
	add(other, a.reportCommand(), a.pluginsCommand(), a.conformanceCommand(), a.schemaCommand(), a.doctorCommand(),
		a.agentCommand(), a.versionCommand())
	a.completions(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 100"))
	root.SetHelpCommandGroupID(other)
	root.SetCompletionCommandGroupID(other)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	return root
}

func (a *app) execute(args []string) error {
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	if err := knownCommand(root, args); err != nil {
		return err
	}
	root.SetArgs(args)
	defer a.waiting.on("")
	cmd, err := root.ExecuteC()
	if err == nil && cmd.GroupID != running { // an experiment continues without a terminal
		err = a.kept.lost()
	}
	return err
}

// knownCommand refuses an unknown command before its flags are checked.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) > 0 && strings.HasPrefix(args[0], "__") {
		return nil // shell completion
	}
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return unknownCommand(cmd, rest[0])
}

// wants returns cobra.Args with a message that says what was expected.
func wants(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		if len(args) < least {
			return usage("%s: an argument is missing; expected: %s", cmd.Name(), cmd.UseLine())
		}
		return usage("%s: too many arguments: %q; expected: %s%s", cmd.Name(), args[most], cmd.UseLine(), quoted(cmd))
	}
}

// quoted says how the values of flags are written that the shell may have given to the command as arguments: a value
// that is optional, after a space, and one that has spaces itself.
func quoted(cmd *cobra.Command) (hint string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.Type() == "string" && f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal:
			hint += fmt.Sprintf("; a value of --%[1]s follows =, as in --%[1]s=%[2]s", f.Name, f.NoOptDefVal)
		case f.Name == "set":
			hint += "; a value with spaces, brackets or braces has quotes around it, as in --set 'KEY=VALUE'"
		}
	})
	return hint
}

// with opens an experiment during a call; it fetches one from a remote storage.
func (a *app) with(dir string, f func(*view.Recorded) error) error {
	return a.fetched(dir, func(at string, copied bool) error {
		lost := examine.Lost(at)
		e, err := view.Open(at)
		if err != nil {
			return err
		}
		if copied {
			e.Elsewhere(func(part string) string { return mirror.Join(dir, part) })
			e.RunsOn(remote.RunsOn(context.Background(), dir))
		}
		a.warnOf(lost(e))
		if err := f(e); err != nil {
			_ = e.Close()
			return err
		}
		return e.Close()
	})
}

// warnOf prints a warning, unless err is nil.
func (a *app) warnOf(err error) {
	if err != nil {
		fmt.Fprintf(a.err, "warning: %s\n", clean(err.Error()))
	}
}

// fetched provides the directory of an experiment during a call. For a remote storage this is this
// machine's working directory if that is the newest, else a copy of the record alone.
func (a *app) fetched(dir string, f func(at string, copied bool) error) error {
	if !mirror.IsURL(dir) {
		if err := slashes(dir); err != nil {
			return err
		}
		return f(dir, false)
	}
	at, done, err := remote.Fetch(context.Background(), dir)
	if err != nil {
		return err
	}
	defer done()
	working, err := remote.WorkingDir(dir)
	if err != nil {
		return err
	}
	if at == working {
		return f(at, false)
	}
	return remote.Named(f(at, true), at, dir)
}

// slashes reports a URL with a missing slash, unless a directory has that name.
func slashes(dir string) error {
	url := config.MeantURL(dir)
	if _, err := os.Stat(dir); url == "" || err == nil {
		return nil
	}
	return usage("%s: expected two slashes after the colon: %s", dir, url)
}

// here is like fetched, for commands that need the machine that runs the experiment.
func (a *app) here(dir, what string, f func(at string) error) error {
	return a.fetched(dir, func(at string, copied bool) error {
		if copied {
			return usage("%s: it runs, or ran last, on another machine, and %s: run this command there", dir,
				what)
		}
		return f(at)
	})
}

// withHere is like with, for commands that need the machine that runs the experiment.
func (a *app) withHere(dir, what string, f func(*view.Recorded) error) error {
	return a.here(dir, what, func(at string) error { return a.with(at, f) })
}

// line prints a JSON object on one line.
func (a *app) line(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (a *app) say(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// lookup is os.LookupEnv.
func (a *app) lookup(name string) (string, bool) {
	value, ok := a.env[name]
	return value, ok
}

// width returns the width of the terminal; 0 if the output is not a terminal.
func (a *app) width() int {
	f, ok := a.screen.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// interactive reports whether a user can answer a question.
func (a *app) interactive() bool {
	f, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) terminal() bool { return a.width() > 0 }

// bold makes a heading bold, if the output is a terminal and colours are on.
func (a *app) bold(s string) string {
	if !a.terminal() || a.env["NO_COLOR"] != "" || a.env["TERM"] == "dumb" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func jsonFlag(f *pflag.FlagSet, to *bool, what string) {
	f.BoolVar(to, "json", false, what)
}
