package command

import (
	"cmp"
	"os"

	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

type options struct {
	Command    []string
	Env        map[string]string
	InheritEnv bool
	Environ    *[]string
	Metrics    map[string]string
	Objectives []string
	Parameters *[]string
	Log        logFiles
	Deadline   float64
	BaseDir    string // or where its files were uploaded to
	CWD        string
	Workers    bool
	Warm       bool
}

// logFiles are names in the trial's directory; "" keeps no log.
type logFiles struct{ Stdout, Stderr string }

var declared = option.Declare(func(o *options) []option.Option {
	texts, textsByName := option.List(option.Text()), option.Map(option.Text())
	return []option.Option{
		option.Of("command", &o.Command, nil, option.Sized(texts, 1, 0),
			"The program and its arguments. {NAME} is a parameter's value, {params} the path of params.json, "+
				"{flags} all parameters as --NAME=VALUE; braces around anything that is not a name are literal, "+
				"{{ and }} are braces. Names of existing files are relative to base_dir.").Required(),
		option.Of("env", &o.Env, nil, textsByName,
			"Additional variables for the program."),
		option.Bool("inherit_env", &o.InheritEnv, true,
			"Whether the program gets the user's environment; otherwise only PATH, HOME, LANG, TMPDIR and env."),
		option.Of("environ", &o.Environ, nil, option.OrNull(texts),
			"The user's environment, NAME=VALUE each. Filled in by the host; without it, this process's own."),
		option.Of("metrics", &o.Metrics, nil, textsByName,
			"Regular expressions that find metrics in lines of stdout; the first group is the number."),
		option.Of("objectives", &o.Objectives, nil, texts,
			"A printed result must have one of these metrics; none: any number makes a result. Filled in by the host."),
		option.Of("parameters", &o.Parameters, nil, option.OrNull(texts),
			"All parameters of the space, so that misspelt placeholders are found before the start "+
				"and missing parameters are empty. Filled in by the host."),
		option.Of("log", &o.Log, logs(true), option.Or(option.Object(declareLog), option.Truth(), logs),
			"Files in the trial's directory for the output of the program; the same name for both makes one file."),
		option.Float("deadline", &o.Deadline, 0, option.From(0).To(maxSeconds),
			"Seconds of silence (no output, no report) after which the trial fails; 0: unlimited."),
		option.String("base_dir", &o.BaseDir, "",
			"Directory of the experiment file. Filled in by the host; without it, the working directory."),
		option.String("cwd", &o.CWD, "",
			"Working directory of the program, relative to base_dir; the trial's own by default."),
		option.Bool("workers", &o.Workers, false,
			"Whether the command starts once for each granted bundle. "+
				"Filled in by the host, from placement.workers."),
		option.Bool("warm", &o.Warm, false,
			"Whether python SCRIPT starts once, imports the installed modules that the script imports at its top, and "+
				"is forked for each trial. On Linux."),
	}
})

func declareLog(l *logFiles) []option.Option {
	return []option.Option{
		option.String("stdout", &l.Stdout, "", "The file for stdout; empty: none."),
		option.String("stderr", &l.Stderr, "", "The file for stderr; empty: none."),
	}
}

// logs returns the files of a log that is on or off.
func logs(on bool) logFiles {
	if on {
		return logFiles{"stdout", "stderr"}
	}
	return logFiles{}
}

func parseOptions(b []byte) (*options, error) {
	o, err := declared.Read(b)
	if err == nil {
		err = o.check()
	}
	o.BaseDir = cmp.Or(os.Getenv(sdk.BaseDirVariable), o.BaseDir)
	if err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	return &o, nil
}

func (o *options) check() error {
	if o.Command[0] == "" {
		return errors.New("command is empty: write [PROGRAM, ARGUMENT, ...]")
	}
	for _, f := range []string{o.Log.Stdout, o.Log.Stderr} {
		if err := checkLogName(f); err != nil {
			return err
		}
	}
	if err := o.checkWarm(); err != nil {
		return err
	}
	return o.checkEnv()
}

// maxSeconds keeps durations well inside time.Duration.
const maxSeconds = 1e9

func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), maxSeconds) * float64(time.Second))
}

// reserved are the host's own files in a trial's directory.
var reserved = []string{"params.json", "result.jsonl", "progress.csv", "error.txt", "checkpoints", checkpointDir}

func checkLogName(f string) error {
	if f != "" && (!filepath.IsLocal(f) || filepath.Base(f) != f || f == "." || slices.Contains(reserved, f)) {
		return fmt.Errorf("log: %q cannot be a log: write the name of a file in the trial's directory, other than %s",
			f, strings.Join(reserved, ", "))
	}
	return nil
}

func (o *options) checkEnv() error {
	for name := range o.Env {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Errorf("env: %q cannot be the name of a variable", name)
		case strings.HasPrefix(name, "TUNEHOST_"):
			return fmt.Errorf("env: %s is set by tunehost; choose another name", name)
		case o.Workers && slices.Contains(gangVariables, name):
			return fmt.Errorf("env: %s is set by tunehost for each worker (placement.workers); leave it out", name)
		}
	}
	return nil
}

// A pattern finds one metric in a line.
type pattern struct {
	name string
	re   *regexp.Regexp
}

// compilePatterns checks the option metrics; sorted by name.
func (o *options) compilePatterns() ([]pattern, error) {
	var ps []pattern
	for name, expr := range o.Metrics {
		if err := channel.CheckName(name); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, fmt.Errorf("metrics: %s: %w", name, err)
		}
		ps = append(ps, pattern{name, re})
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].name < ps[j].name })
	return ps, o.checkObjectivePatterns()
}

func (o *options) checkObjectivePatterns() error {
	if len(o.Metrics) == 0 {
		return nil
	}
	for _, m := range o.Objectives {
		if _, ok := o.Metrics[m]; !ok {
			return fmt.Errorf("metrics has no expression for the objective's metric %q: add one", m)
		}
	}
	return nil
}
