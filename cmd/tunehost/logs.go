package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/analysis"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

func (a *app) logsCommand() *cobra.Command {
	var onlyOut, onlyErr bool
	var rank uint16
	cmd := &cobra.Command{
		Use:   "logs DIR TRIAL",
		Short: "What a trial has printed",
		Long:  "What a trial has printed, and why it failed if it did. TRIAL is a number or an id.",
		Example: `  tunehost logs results/digits 17
  tunehost logs results/digits 17 --stderr
  tunehost logs results/digits 17 --rank 1`,
		Args: wants(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withHere(args[0], "what trials print stays there", func(e *analysis.Experiment) error {
				no, err := e.Find(args[1])
				if err != nil {
					return asUsage(err)
				}
				return a.logs(e, no, rank, onlyOut == onlyErr || onlyOut, onlyOut == onlyErr || onlyErr)
			})
		},
	}
	cmd.Flags().BoolVar(&onlyOut, "stdout", false, "only its standard output")
	cmd.Flags().BoolVar(&onlyErr, "stderr", false, "only its standard error")
	cmd.Flags().Uint16Var(&rank, "rank", 0, "of a trial with workers: which of them")
	return cmd
}

func (a *app) logs(e *analysis.Experiment, no core.TrialNo, rank uint16, stdout, stderr bool) error {
	t := e.Trial(no)
	log := e.Config().Log
	if !log.On {
		return usage("%s: its output was not kept: the experiment says log: false", title(&t))
	}
	var names []string
	if stdout {
		names = append(names, cmp.Or(log.Stdout, "stdout"))
	}
	if name := cmp.Or(log.Stderr, "stderr"); stderr && (len(names) == 0 || names[0] != name) {
		names = append(names, name)
	}
	if rank > 0 {
		if p := e.Config().Placement; p == nil || !p.Workers {
			return usage("%s has one process: the experiment starts no workers (placement.workers)", title(&t))
		}
		for i := range names {
			names[i] += fmt.Sprintf(".%d", rank)
		}
		if _, err := nolink.Lstat(filepath.Join(t.Dir, names[0])); err != nil && int(rank) >= len(e.Config().Placement.Bundles) {
			return usage("%s has no rank %d: its workers are 0 to %d", title(&t), rank, len(e.Config().Placement.Bundles)-1)
		}
	}
	printed, err := a.printLogs(t.Dir, names)
	if err != nil {
		return err
	}
	if t.Error != "" && stderr {
		fmt.Fprintf(a.err, "%s failed: %s\n", title(&t), clean(t.Error))
	} else if !printed {
		fmt.Fprintf(a.err, "%s has printed nothing\n", title(&t))
	}
	return nil
}

// printLogs prints files, with a heading each where there are several.
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

func (a *app) printLog(f *os.File, heading bool) (some bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	if heading {
		a.say("%s", a.bold("==> "+filepath.Base(f.Name())+" <=="))
	}
	_, err = io.Copy(a.out, f)
	return true, err
}
