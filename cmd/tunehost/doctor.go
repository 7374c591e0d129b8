package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/validate/examine"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) doctorCommand() *cobra.Command {
	var f executorFlags
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Check this machine, an experiment's directory, or a cluster",
		Long: `Check that this machine can run experiments with their results in DIR (the default is
./results): its resources, the directory, and the languages that trials and plugins
often need.

If DIR is the directory of an experiment, check that experiment: whether its record and
its checkpoints are intact, whether a host runs it, and whether it can be resumed.
Nothing is changed.

With --executor, check a cluster: request one small lease, look at its node, and give
the lease back.`,
		Example: `  tunehost doctor
  tunehost doctor results/digits
  tunehost doctor --executor slurm
  tunehost doctor --executor '{plugin: slurm, partition: gpu}' --gpus 1`,
		Args: wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "results"
			if len(args) == 1 {
				dir = args[0]
			}
			if err := f.check(); err != nil {
				return err
			}
			if f.executor != "" {
				return a.doctorExecutor(dir, &f)
			}
			return a.doctor(dir)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (a *app) doctor(dir string) error {
	if mirror.IsURL(dir) {
		return a.here(dir, "only the working directory there can be checked", a.examine)
	}
	if view.Is(dir) {
		return a.examine(dir)
	}
	a.waiting.on("the checks of this machine")
	findings := append(examine.Here(), directory(dir), socket())
	for _, tool := range [][]string{{"python3", "--version"}, {"go", "version"}, {"cargo", "--version"},
		{"node", "--version"}} {
		a.waiting.on(strings.Join(tool, " "))
		findings = append(findings, toolchain(tool))
	}
	return a.report(append(findings, pluginFolders()...))
}

func (a *app) examine(dir string) error {
	a.waiting.on("the checks of " + dir)
	findings, err := examine.Directory(dir, plugins)
	if err != nil {
		return err
	}
	return a.report(findings)
}

func well(what, text string) examine.Finding { return examine.Finding{What: what, Text: text} }

func bad(what, text string) examine.Finding {
	return examine.Finding{What: what, Text: text, Bad: true}
}

// report prints findings; a bad one makes the exit status 1.
func (a *app) report(findings []examine.Finding) error {
	a.waiting.on("")
	t := &table{}
	t.column("", false)
	t.column("", false)
	t.column("", false)
	bad := false
	for _, f := range findings {
		mark := "ok"
		if f.Bad {
			mark, bad = "BAD", true
		}
		t.rows = append(t.rows, []string{mark, f.What, f.Text})
	}
	if err := t.write(a.out, 0, a.bold); err != nil {
		return err
	}
	if bad {
		return exitError(exitFailed)
	}
	return nil
}

// directory tries what a host does in a directory: files, syncing, and a lock.
func directory(dir string) examine.Finding {
	at, what := dir, dir+" can be written, synced and locked"
	switch info, err := os.Stat(dir); {
	case err != nil:
		at = filepath.Dir(filepath.Clean(dir)) // the first experiment makes it
		what = dir + " does not exist yet; it can be made, written, synced and locked"
	case !info.IsDir():
		return bad("results", dir+" is not a directory; give the directory of an experiment or of results")
	}
	if err := storage.CheckResults(dir); err != nil {
		return bad("results", err.Error())
	}
	tmp, err := os.MkdirTemp(at, ".tunehost-doctor-")
	if err != nil {
		return bad("results", fmt.Sprintf("%v; choose another directory with --storage", err))
	}
	defer os.RemoveAll(tmp)
	if err := tryDirectory(tmp); err != nil {
		return bad("results", fmt.Sprintf("%s: %v; choose a directory on another file system", dir, err))
	}
	return well("results", what)
}

func tryDirectory(dir string) error {
	lock, err := journal.LockDir(dir, time.Now())
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	f, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString("tunehost"); err != nil {
		return err
	}
	return f.Sync()
}

// pluginFolders returns the folders that are searched without an experiment.
func pluginFolders() (list []examine.Finding) {
	f, err := found()
	if err != nil {
		return []examine.Finding{bad("plugins", err.Error())}
	}
	for _, place := range f.Looked() {
		text := fmt.Sprintf("%s: %d found", place.Dir, len(place.Plugins))
		if place.Missing {
			text = place.Dir + ": does not exist (it is optional)"
		}
		bad := false
		for _, p := range place.Problems {
			if !p.Other {
				text, bad = p.Err.Error(), true
			}
		}
		list = append(list, examine.Finding{What: "plugins", Text: text, Bad: bad})
	}
	return list
}

func socket() examine.Finding {
	l, remove, err := unixsock.Listen()
	if err != nil {
		return bad("sockets", err.Error())
	}
	defer remove()
	defer l.Close()
	return well("sockets", "can be made in "+filepath.Dir(filepath.Dir(l.Addr().String())))
}

// toolchain looks for a tool. tunehost itself needs none of them.
func toolchain(tool []string) examine.Finding {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool[0], tool[1:]...).Output()
	if err != nil {
		return well(tool[0], "not found; only needed for programs written in it")
	}
	return well(tool[0], firstLine(strings.TrimSpace(string(out))))
}
