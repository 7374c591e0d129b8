package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// logging selects the output to print.
type logging struct {
	onlyOut, onlyErr, follow bool
	rank                     uint16
}

func (l *logging) stdout() bool { return l.onlyOut || !l.onlyErr }
func (l *logging) stderr() bool { return l.onlyErr || !l.onlyOut }

func (a *app) logsCommand() *cobra.Command {
	var l logging
	cmd := &cobra.Command{
		Use:   "logs DIR [TRIAL]",
		Short: "Show the output of a trial",
		Long: `Show the output of a trial and, if it failed, the error. TRIAL is a number or an id.

With --follow the command prints new output until the trial ends. With --follow and
without TRIAL it prints the new output of all trials, each line with the number of its
trial, until the host ends.`,
		Example: `  tunehost logs results/digits 17
  tunehost logs results/digits 17 --stderr
  tunehost logs results/digits 17 --rank 1
  tunehost logs results/digits --follow`,
		Args: wants(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !l.follow {
				return usage("logs: which trial? expected: tunehost logs DIR TRIAL, or --follow for all")
			}
			return a.withHere(args[0], "the output of trials is stored only there", func(e *view.Recorded) error {
				if len(args) == 1 {
					return a.followAll(e, &l)
				}
				no, err := e.Find(args[1])
				if err != nil {
					return asUsage(err)
				}
				return a.logs(e, no, &l)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&l.onlyOut, "stdout", false, "print only standard output")
	flags.BoolVar(&l.onlyErr, "stderr", false, "print only standard error")
	flags.BoolVarP(&l.follow, "follow", "f", false, "print new output until the trial ends")
	flags.Uint16Var(&l.rank, "rank", 0, "print the output of the worker with this `RANK`, for a trial with workers")
	return cmd
}

func (a *app) logs(e *view.Recorded, no core.TrialNo, l *logging) error {
	t := e.Trial(no)
	names, err := logFiles(e, title(&t), l)
	if err != nil {
		return err
	}
	if err := e.Facts.CheckRank(&t, l.rank, names[0]); err != nil {
		return asUsage(err)
	}
	if l.follow {
		return a.follow(&following{app: a, e: e, names: names, trial: &no})
	}
	printed, err := a.printLogs(t.Dir, names)
	if err != nil {
		return err
	}
	if t.Error != "" && l.stderr() {
		fmt.Fprintf(a.err, "%s failed: %s\n", title(&t), clean(unprinted(t.Error, t.Dir, names)))
	} else if !printed {
		fmt.Fprintf(a.err, "%s has printed nothing\n", title(&t))
	}
	return nil
}

// lastOutput is how much of an output an error can quote.
const lastOutput = 64 << 10

// unprinted returns an error without the lines that it quotes of the output, if they are in the file that was printed
// last.
func unprinted(text, dir string, names []string) string {
	first, rest, _ := strings.Cut(text, "\n")
	f, err := nolink.Open(filepath.Join(dir, names[len(names)-1]))
	if err != nil {
		return text
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return text
	}
	from := max(0, info.Size()-lastOutput)
	printed, err := io.ReadAll(io.NewSectionReader(f, from, lastOutput))
	if err != nil {
		return text
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "its stderr is in ") && !strings.Contains(string(printed), line) {
			return text
		}
	}
	return first
}

// followAll prints what all trials print from now on.
func (a *app) followAll(e *view.Recorded, l *logging) error {
	names, err := logFiles(e, "the trials", l)
	if err != nil {
		return err
	}
	if state := e.State(); state != view.Running {
		return usage("%s is %s: no trial prints anything; `tunehost logs %s TRIAL` shows what one has printed",
			e.Name, state, untrusted.Word(e.Place()))
	}
	return a.follow(&following{app: a, e: e, names: names})
}

func (a *app) follow(f *following) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.until(ctx)
}

// logFiles returns the names of the files in a trial's directory.
func logFiles(e *view.Recorded, whose string, l *logging) (names []string, err error) {
	log := e.Config.Log
	if !log.On {
		return nil, usage("%s: its output was not stored: the experiment file has log: false", whose)
	}
	stdout, stderr := log.Files()
	if l.stdout() {
		names = append(names, stdout)
	}
	if l.stderr() && (len(names) == 0 || names[0] != stderr) {
		names = append(names, stderr)
	}
	for i := range names {
		if l.rank > 0 {
			names[i] += fmt.Sprintf(".%d", l.rank)
		}
	}
	return names, nil
}

// printLogs prints files, each with a heading if there are several.
func (a *app) printLogs(dir string, names []string) (printed bool, err error) {
	for _, name := range names {
		f, err := nolink.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return printed, err
		}
		some, err := a.printLog(f, len(names) > 1)
		if err = errors.Join(err, f.Close()); err != nil {
			return printed, err
		}
		printed = printed || some
	}
	return printed, nil
}

// log returns where a program's output goes: unchanged to a file or a program, and to a terminal
// without control sequences other than colours.
func (a *app) log() io.Writer {
	if !a.terminal() {
		return a.screen
	}
	return untrusted.NewWriter(a.screen, untrusted.Colours)
}

func (a *app) printLog(f *os.File, heading bool) (some bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	if heading {
		a.say("%s", a.bold("==> "+filepath.Base(f.Name())+" <=="))
	}
	_, err = io.Copy(a.log(), f)
	if a.terminal() {
		_, _ = io.WriteString(a.screen, "\x1b[0m") // the program's colours end with its output
	}
	return true, err
}
