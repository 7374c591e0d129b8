package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/points"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Doubts are warnings of what is valid in the file but surely not meant: about the file alone,
// and about what is around it.
func Doubts(o *options.Options, e *config.Experiment) []*config.Error {
	return slices.Concat(e.Warnings, unusableFolders(e), absentScripts(e), unsent(e), tightSpace(e), undefined(e),
		hugePlan(e), manyPoints(e), namedAsMetrics(e), unused(e, o.Mode.Manual), idle(o, e),
		inactive(e), impossible(e))
}

func doubt(at config.Pos, format string, args ...any) *config.Error {
	return &config.Error{Pos: at, Msg: fmt.Sprintf(format, args...)}
}

// unusableFolders warns of folders of plugins that do not exist, or are no folders.
func unusableFolders(e *config.Experiment) (list []*config.Error) {
	for _, place := range e.Plugins {
		info, err := os.Stat(inFolderOf(e, place))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			list = append(list, doubt(e.PosOf("plugins"), "plugins: %s: there is no such folder", place))
		case err == nil && !info.IsDir():
			list = append(list, doubt(e.PosOf("plugins"), "plugins: %s is not a folder; a plugin is named by its "+
				"path in searcher, scheduler or trainable", place))
		}
	}
	return list
}

// script matches an argument that an interpreter will look for.
var script = lazily.Regexp(`^[^-{][^{]*\.(py|sh|js|mjs|ts|jl|[rR]|rb|pl|lua)$`)

// absentScripts warns of scripts that each trial would look for in its own directory.
func absentScripts(e *config.Experiment) (list []*config.Error) {
	if e.Trainable == nil || len(e.Trainable.Command) == 0 {
		return nil
	}
	for _, arg := range e.Trainable.Command[1:] {
		if script().MatchString(arg) && !strings.ContainsAny(arg, " \t\n;") && absentScript(e, arg) {
			list = append(list, doubt(e.PosOf("trainable.command"),
				"%q is not a file beside the experiment file, and trials run in directories of their own", arg))
		}
	}
	return list
}

// absentScript reports whether arg is neither beside the file nor in the directory in which the
// program is started.
func absentScript(e *config.Experiment, arg string) bool {
	cwd := e.Trainable.CWD
	return absent(e, arg) && (cwd == "" || filepath.IsAbs(arg) || absent(e, filepath.Join(cwd, arg)))
}

// absent reports whether nothing is at a path, relative to the experiment file.
func absent(e *config.Experiment, path string) bool {
	_, err := os.Stat(inFolderOf(e, path))
	return errors.Is(err, fs.ErrNotExist)
}

// unsent warns of files that the command names, and that are not sent to nodes: those outside of the folder, and links.
func unsent(e *config.Experiment) (list []*config.Error) {
	if e.Trainable == nil || !e.Leased() {
		return nil
	}
	for _, arg := range e.Trainable.Command {
		if why := unsentWhy(e, arg); why != "" {
			list = append(list, doubt(e.PosOf("trainable.command"), "%q %s", arg, why))
		}
	}
	return list
}

// unsentWhy is why what an argument names is not sent; "": it is sent, or there is no such file.
func unsentWhy(e *config.Experiment, arg string) string {
	at := inFolderOf(e, arg)
	info, err := os.Lstat(at)
	if err != nil || filepath.IsAbs(arg) { // an absolute path may be meant for the node
		return ""
	}
	if !filepath.IsLocal(arg) {
		return "is outside of the folder of the experiment file, so that it is not sent: only nodes that see it " +
			"under the same path can use it; put it, or a copy, into the folder"
	}
	to, err := os.Stat(at)
	if info.Mode().Type() == fs.ModeSymlink && err == nil && to.Mode().IsRegular() && !uploads(e, arg) {
		return "is a link, which is not sent unless the executor's key upload lists it and the file that it leads " +
			"to: only nodes that see it under the same path can use it"
	}
	return ""
}

// uploads reports whether the file lists a name in upload, or a folder that it is in.
func uploads(e *config.Experiment, name string) bool {
	return slices.ContainsFunc(e.Upload, func(listed string) bool {
		rest, err := filepath.Rel(listed, name)
		return err == nil && filepath.IsLocal(rest)
	})
}

// inFolderOf is a path of the experiment file.
func inFolderOf(e *config.Experiment, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(e.File), path)
}

// manyTrials is how many trials of a second each a year has room for.
const manyTrials = 365 * 86400

// hugePlan warns of more trials than can ever run: the combinations of the grid's values
// multiply.
func hugePlan(e *config.Experiment) []*config.Error {
	n := spec.Runs(e)
	if e.Space == nil || n < manyTrials {
		return nil
	}
	plan := points.NewPlan(e)
	if plan.TooMany() {
		return nil // an error says so
	}
	size := plan.Combinations()
	text := fmt.Sprintf("the experiment has %d trials", n)
	if n == points.Most {
		text = fmt.Sprintf("the experiment has at least %d trials", n)
	}
	if size > 1 {
		count := fmt.Sprint(size)
		if size == points.Most {
			count = "at least " + count
		}
		text = fmt.Sprintf("%s: the grid axes have %s combinations, and each is run trials × repeat times", text, count)
	}
	return []*config.Error{doubt(e.PosOf("trials"),
		"%s; at one trial a second this takes more than a year; bound it with trials or budget", text)}
}

// manyPoints warns of more points than trials: all of them run.
func manyPoints(e *config.Experiment) []*config.Error {
	if e.Space == nil || e.Trials < 0 || int64(len(e.Points)) <= e.Trials || hasGrid(e) {
		return nil
	}
	return []*config.Error{doubt(e.PosOf("points"), "there are %d points, more than trials (%d): all of them run",
		len(e.Points), e.Trials)}
}

// namedAsMetrics warns of parameters with the name of a metric of the file: expressions mean the parameter.
func namedAsMetrics(e *config.Experiment) (list []*config.Error) {
	metrics := metricsOf(e)
	for _, name := range e.ParameterNames() {
		if slices.Contains(metrics, name) {
			list = append(list, doubt(e.PosOf("space."+strings.ReplaceAll(name, "/", ".")),
				"the parameter %s has the name of a metric: in expressions, such as stop.when and --where, %s is the "+
					"parameter, and the metric is metrics.%[2]s", name, strings.ReplaceAll(name, "/", ".")))
		}
	}
	return list
}

// metricsOf are the metrics that the file names.
func metricsOf(e *config.Experiment) (names []string) {
	for _, o := range e.Objectives {
		names = append(names, o.Metric)
	}
	for _, rule := range e.Stop.Metrics {
		names = append(names, rule.Metric)
	}
	if p := e.Stop.Plateau; p != nil {
		names = append(names, p.Metric)
	}
	if e.Trainable != nil {
		names = slices.AppendSeq(names, maps.Keys(e.Trainable.Metrics))
	}
	return names
}

// tooTight is the error of constraints under which no draw finds a point, where a searcher
// has to find trials by drawing. Others may know points that satisfy them.
func tooTight(e *config.Experiment) error {
	plan := points.NewPlan(e)
	if plan.TooMany() {
		return tooLarge(e)
	}
	if plan.Combinations() == 0 {
		return withUndefined(e, fmt.Errorf("%s: no combination of the grid satisfies the constraints: loosen them, or "+
			"give the grid other values", e.Constraints[0].Pos))
	}
	list := tightSpace(e)
	if len(list) == 0 || !standard.Draws(e.Searcher.Name) || hasGrid(e) || onlyPoints(e) {
		return nil
	}
	return withUndefined(e, list[0])
}

// onlyPoints reports whether all trials are points of the user.
func onlyPoints(e *config.Experiment) bool {
	return !hasGrid(e) && e.Trials >= 0 && e.Trials <= int64(len(e.Points))
}

func hasGrid(e *config.Experiment) bool {
	return slices.ContainsFunc(e.Space.Params, func(p space.Param) bool { return p.Grid })
}

// withUndefined adds to an error of constraints which of them have no value: that may be why nothing satisfies them.
func withUndefined(e *config.Experiment, err error) error {
	for _, x := range undefined(e) {
		err = errors.Join(err, x)
	}
	return err
}

// tooLarge is the error of a grid of which nobody can tell in time which combinations are trials.
func tooLarge(e *config.Experiment) error {
	at, what := e.PosOf("space"), "conditions"
	if len(e.Constraints) > 0 {
		at, what = e.Constraints[0].Pos, "constraints"
	}
	return fmt.Errorf("%s: the grid has %d combinations, too many to tell which of them the %s leave: give it fewer "+
		"values, or write choice in place of grid, of which the searcher takes as many as trials says", at,
		points.GridSize(e.Space), what)
}

// tightSpace warns where drawing finds no point that satisfies the constraints: most searchers
// will not find one either.
func tightSpace(e *config.Experiment) []*config.Error {
	if e.Space == nil || len(e.Constraints) == 0 {
		return nil
	}
	if err := points.Possible(e); err != nil {
		return []*config.Error{doubt(e.Constraints[0].Pos, "%v", err)}
	}
	return nil
}

// undefined warns of constraints that are false at some points because they divide by zero there, or are not a number.
func undefined(e *config.Experiment) (list []*config.Error) {
	if e.Space == nil || len(e.Constraints) == 0 {
		return nil
	}
	const draws = 500
	rng, found := space.NewRand(0), map[config.Pos]error{}
	for range draws {
		for at, err := range e.Undefined(e.Space.Draw(rng)) {
			found[at] = cmp.Or(found[at], err)
		}
	}
	for _, c := range e.Constraints {
		if err := found[c.Pos]; err != nil {
			list = append(list, doubt(c.Pos, "the constraint %v: it is false there, and so would be its negation; to "+
				"say what holds there, write a constraint such as x == 0 || 1 / x > 3", err))
		}
	}
	return list
}
