package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/points"
	"github.com/tunehost/tunehost/host/spec"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// doubtsOf are warnings of what is right in the file but surely not meant: those of
// the file alone, and those of what is around it.
func doubtsOf(e *config.Experiment) []*config.Error {
	return slices.Concat(e.Warnings, absentFolders(e), absentScripts(e), tightSpace(e), hugePlan(e))
}

func doubt(at config.Pos, format string, args ...any) *config.Error {
	return &config.Error{Pos: at, Msg: fmt.Sprintf(format, args...)}
}

// absentFolders: a folder of plugins that is not there is only missed when the
// plugin is.
func absentFolders(e *config.Experiment) (list []*config.Error) {
	for _, place := range e.Plugins {
		if absent(e, place) {
			list = append(list, doubt(e.PosOf("plugins"), "plugins: %s: there is no such folder", place))
		}
	}
	return list
}

// script is an argument that an interpreter will look for.
var script = regexp.MustCompile(`^[^-{][^{]*\.(py|sh|js|mjs|ts|jl|[rR]|rb|pl|lua)$`)

// absentScripts: each trial would look for it in its own directory.
func absentScripts(e *config.Experiment) (list []*config.Error) {
	if e.Trainable == nil || len(e.Trainable.Command) == 0 {
		return nil
	}
	for _, arg := range e.Trainable.Command[1:] {
		if script.MatchString(arg) && !strings.ContainsAny(arg, " \t\n;") && absentScript(e, arg) {
			list = append(list, doubt(e.PosOf("trainable.command"),
				"%q is not a file beside the experiment file, and trials run in directories of their own", arg))
		}
	}
	return list
}

// absentScript: neither beside the file nor in the directory in which the program is started.
func absentScript(e *config.Experiment, arg string) bool {
	cwd := e.Trainable.CWD
	return absent(e, arg) && (cwd == "" || filepath.IsAbs(arg) || absent(e, filepath.Join(cwd, arg)))
}

// absent says that nothing is at a path, relative to the experiment file.
func absent(e *config.Experiment, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(e.File), path)
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// manyTrials are more than a year has room for, at a second each.
const manyTrials = 365 * 86400

// hugePlan: trials are counted for each combination of the grid's values, which multiply.
func hugePlan(e *config.Experiment) []*config.Error {
	n := spec.Runs(e)
	if e.Space == nil || n < manyTrials {
		return nil
	}
	size := points.GridSize(e.Space)
	text := fmt.Sprintf("the experiment has %d trials", n)
	if size > 1 {
		text = fmt.Sprintf("%s: the grid axes have %d combinations, and each is run trials × repeat times", text, size)
	}
	return []*config.Error{doubt(e.PosOf("trials"),
		"%s; at one trial a second this takes more than a year; bound it with trials or budget", text)}
}

// tightSpace: where drawing finds no point that satisfies the constraints, most
// searchers will not find one either.
func tightSpace(e *config.Experiment) []*config.Error {
	if e.Space == nil || len(e.Space.Constraints) == 0 || len(e.Constraints) == 0 {
		return nil
	}
	if _, err := e.Space.Sample(space.NewRand(0)); err != nil {
		return []*config.Error{doubt(e.Constraints[0].Pos, "%v", err)}
	}
	return nil
}
