// Package rerun has the command that runs the program of a trial again.
package rerun

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/trainables/command"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// Line returns a line for a shell that runs the program of a trial again with the same parameters, in a new folder,
// so that nothing of the trial is overwritten; "" if the trial runs no command of the file.
func Line(e *view.Facts, t *view.Trial) string {
	x := e.Config.Trainable
	if x == nil || len(x.Command) == 0 {
		return ""
	}
	run, _, err := runfile.Read(e.Dir)
	if err != nil {
		return ""
	}
	base, params := filepath.Dir(run.File), filepath.Join(t.Dir, "params.json")
	words, err := command.Words(x.Command, base, e.ParamNames(), t.Params, params)
	if err != nil {
		return ""
	}
	line, err := variables(x.Env, t.Params)
	if err != nil {
		return ""
	}
	line = append(line, "TUNEHOST_TRIAL_ID="+argv.Pasted(t.ID), "TUNEHOST_EXPERIMENT="+argv.Pasted(e.Name),
		"TUNEHOST_SEED="+strconv.FormatUint(seeds.For(e.Seed, seeds.Trial, uint64(t.Number)), 10))
	line = append(line, "TUNEHOST_PARAMS="+argv.Pasted(params), `TUNEHOST_TRIAL_DIR="$PWD"`,
		`TUNEHOST_CHECKPOINT_DIR="$PWD"`)
	for _, word := range words {
		line = append(line, argv.Pasted(word))
	}
	cd := `cd "$(mktemp -d)"`
	if x.CWD != "" {
		cd = "cd " + argv.Pasted(within(base, x.CWD))
	}
	return cd + " && " + strings.Join(line, " ")
}

// variables returns the variables of the experiment file, and those of the parameters, for a shell.
func variables(env map[string]string, params []byte) (words []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		words = append(words, name+"="+argv.Pasted(env[name]))
	}
	list, err := command.Variables(params)
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		words = append(words, name+"="+argv.Pasted(value))
	}
	return words, err
}

// within returns a path that is relative to a folder.
func within(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}
