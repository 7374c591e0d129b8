package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) lsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls [DIR]",
		Short:   "List the experiments in a folder",
		Long:    "List the experiments in a folder. The default is ./results.",
		Example: "  tunehost ls\n  tunehost ls --json results | jq 'select(.state == \"running\").name'",
		Args:    wants(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "results"
			if len(args) == 1 {
				dir = args[0]
			}
			return a.ls(dir, asJSON)
		},
	}
	jsonFlag(cmd.Flags(), &asJSON, "print one JSON object a line for each experiment")
	return cmd
}

func (a *app) ls(dir string, asJSON bool) error {
	dirs, err := experimentsOf(dir)
	if err != nil {
		return err
	}
	broken, listed := false, 0
	t := listTable()
	for _, d := range dirs {
		x, err := a.list(dir, d)
		if err == nil {
			listed++
		} else {
			a.explain(fmt.Errorf("%s: %w", d, err))
			broken = broken || view.Is(d)
			x = view.Unreadable(fromRoot(d), err)
			x.Name = baseOf(d)
		}
		if !asJSON {
			t.rows = append(t.rows, a.listRow(&x))
		} else if err := a.line(x); err != nil {
			return err
		}
	}
	if !asJSON && len(t.rows) > 0 {
		if err := t.write(a.out, a.width(), a.bold); err != nil {
			return err
		}
	}
	if len(dirs) == 0 && !asJSON {
		a.say("no experiments in %s", dir)
	}
	if broken || len(dirs) > 0 && listed == 0 {
		return exitError(exitFailed)
	}
	return nil
}

// experimentsOf returns those of a folder, or of a remote storage.
func experimentsOf(dir string) ([]string, error) {
	if err := slashes(dir); err != nil {
		return nil, err
	}
	if !mirror.IsURL(dir) {
		return experiments(dir)
	}
	names, err := mirror.Names(context.Background(), dir)
	if errors.Is(err, mirror.ErrNone) {
		return nil, usage("%s: no such directory; the key storage of the experiment file says where results are", dir)
	}
	for i, name := range names {
		names[i] = mirror.Join(dir, name)
	}
	return names, err
}

// experiments returns the directories of experiments: dir itself, or those in it.
func experiments(dir string) ([]string, error) {
	if view.Is(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("%s: no such folder; experiments store results in ./results by default", dir)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, usage("%s: this is a file, expected a folder of experiments, such as ./results", dir)
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if d := filepath.Join(dir, e.Name()); view.Is(d) || view.Hidden(d) {
			dirs = append(dirs, d)
		}
	}
	return dirs, nil
}

// list summarises an experiment of a folder.
func (a *app) list(folder, dir string) (x view.Summary, err error) {
	if dir != folder && !mirror.IsURL(dir) {
		if err := view.CheckListed(dir); err != nil {
			return x, err
		}
	}
	err = a.with(dir, func(e *view.Recorded) (err error) {
		x, err = e.Summary()
		return err
	})
	if mirror.IsURL(dir) || isLink(dir) { // also if the directory that it stands for is here
		x.Dir = fromRoot(dir)
	}
	return x, err
}

// isLink reports whether a directory is a link to another one, which may be in the list, too.
func isLink(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// fromRoot returns a directory's path from the root; a URL stays.
func fromRoot(dir string) string {
	if path, err := filepath.Abs(dir); err == nil && !mirror.IsURL(dir) {
		return path
	}
	return dir
}

// baseOf returns the name of a directory, or of the experiment at a URL.
func baseOf(dir string) string {
	if mirror.IsURL(dir) {
		return mirror.Name(dir)
	}
	return filepath.Base(dir)
}

func listTable() *table {
	t := &table{}
	t.column("name", false)
	t.column("state", false)
	t.column("trials", true)
	t.column("best", true)
	t.column("metric", false)
	t.column("changed", false)
	return t
}

func (a *app) listRow(x *view.Summary) []string {
	if x.Error != "" {
		return []string{listName(x), "unreadable", "-", "-", "", "-"}
	}
	best, metric := listBest(x)
	return []string{listName(x), listState(x), listTrials(x), best, metric, ago(a.now(), x.Changed)}
}

// listBest returns the best value of each objective, and their names. Of several, each may be of another trial, and the
// names say so.
func listBest(x *view.Summary) (best, metric string) {
	objectives := x.Objectives
	if len(objectives) == 0 {
		objectives = []view.SummedObjective{{Metric: x.Metric, Best: x.Best}}
	}
	var values, names []string
	for _, o := range objectives {
		value := "-"
		if o.Best != nil {
			value = number(float64(*o.Best))
		}
		values, names = append(values, value), append(names, o.Metric)
	}
	if len(names) > 1 {
		return strings.Join(values, ", "), strings.Join(names, ", ") + ", each alone"
	}
	return values[0], names[0]
}

// listState returns the state for people: a paused experiment does not count as running.
func listState(x *view.Summary) string {
	switch {
	case !x.Paused:
		return x.State
	case x.State == view.Running:
		return "paused"
	}
	return x.State + ", paused"
}

func listTrials(x *view.Summary) string {
	if x.NeverStarted == 0 {
		return fmt.Sprint(x.Trials)
	}
	return fmt.Sprintf("%d (%d never started)", x.Trials, x.NeverStarted)
}

// listName returns an experiment's name, with its directory if that has another name: commands take
// the directory.
func listName(x *view.Summary) string {
	base := baseOf(x.Dir)
	if x.Name == "" || x.Name == base {
		return base
	}
	return fmt.Sprintf("%s (%s)", x.Name, base)
}
