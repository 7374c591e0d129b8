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
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/control"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Check this machine, or an experiment's directory",
		Long: `Check that this machine can run experiments with their results in DIR (./results
unless named): what it offers, where results go, the programs that trials and
plugins are often written in.

Where DIR is an experiment's own directory, check that: is its record whole, are
its checkpoints, is a host at work, can it be gone on with? Nothing is changed.`,
		Example: `  tunehost doctor
  tunehost doctor results/digits`,
		Args: wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "results"
			if len(args) == 1 {
				dir = args[0]
			}
			return a.doctor(dir)
		},
	}
}

func (a *app) doctor(dir string) error {
	if mirror.IsURL(dir) {
		return a.here(dir, "only the working directory there can be examined", a.examine)
	}
	if view.Is(dir) {
		return a.examine(dir)
	}
	findings := append(machine(), directory(dir), socket())
	for _, tool := range [][]string{{"python3", "--version"}, {"go", "version"}, {"cargo", "--version"}, {"node", "--version"}} {
		findings = append(findings, toolchain(tool))
	}
	return a.report(append(findings, pluginFolders()...))
}

func (a *app) examine(dir string) error {
	findings, err := host.Examine(dir, plugins)
	if err != nil {
		return err
	}
	return a.report(findings)
}

func well(what, text string) host.Finding { return host.Finding{What: what, Text: text} }

func bad(what, text string) host.Finding { return host.Finding{What: what, Text: text, Bad: true} }

// report prints findings; one that is bad makes the exit status 1.
func (a *app) report(findings []host.Finding) error {
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

func machine() []host.Finding {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	node, warning := local.Detect(ctx)
	list := []host.Finding{well("machine", offers(node))}
	if warning != "" {
		list = append(list, bad("gpu", warning))
	}
	return list
}

func offers(n local.Node) string {
	text := n.String()
	if b, err := resource.ParseBundle(text); err == nil {
		text = b.String()
	}
	if len(n.GPUs) > 0 && n.GPUs[0].Model != "" {
		text += " (" + n.GPUs[0].Model + ")"
	}
	return text
}

// directory tries what a host does in a directory: files, synced, and a lock.
func directory(dir string) host.Finding {
	at, what := dir, dir+" can be written, synced and locked"
	switch info, err := os.Stat(dir); {
	case err != nil:
		at = filepath.Dir(filepath.Clean(dir)) // it is made with the first experiment
		what = dir + " is not there yet; it can be made, written, synced and locked"
	case !info.IsDir():
		return bad("results", dir+" is not a directory; name that of an experiment, or one for results")
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

// pluginFolders are those that are looked in without an experiment.
func pluginFolders() (list []host.Finding) {
	f, err := found()
	if err != nil {
		return []host.Finding{bad("plugins", err.Error())}
	}
	for _, place := range f.Looked() {
		text := fmt.Sprintf("%s: %d found", place.Dir, len(place.Plugins))
		if place.Missing {
			text = place.Dir + ": does not exist, and need not"
		}
		bad := false
		for _, p := range place.Problems {
			if !p.Other {
				text, bad = p.Err.Error(), true
			}
		}
		list = append(list, host.Finding{What: "plugins", Text: text, Bad: bad})
	}
	return list
}

func socket() host.Finding {
	l, remove, err := control.Listen()
	if err != nil {
		return bad("sockets", err.Error()+"; set TMPDIR to a directory of your own")
	}
	defer remove()
	defer l.Close()
	return well("sockets", "can be made in "+filepath.Dir(filepath.Dir(l.Addr().String())))
}

// toolchain: none of them is needed by tunehost itself.
func toolchain(tool []string) host.Finding {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool[0], tool[1:]...).Output()
	if err != nil {
		return well(tool[0], "not found; only needed for programs written in it")
	}
	return well(tool[0], firstLine(strings.TrimSpace(string(out))))
}
