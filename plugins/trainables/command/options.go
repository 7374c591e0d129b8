package command

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

//go:embed options.schema.json
var schema []byte

// options are as the schema describes them.
type options struct {
	Command    []string          `json:"command"`
	Env        map[string]string `json:"env"`
	InheritEnv *bool             `json:"inherit_env"`
	Environ    []string          `json:"environ"`
	Metrics    map[string]string `json:"metrics"`
	Objectives []string          `json:"objectives"`
	Parameters []string          `json:"parameters"`
	Log        *logFiles         `json:"log"`
	Deadline   float64           `json:"deadline"`
	BaseDir    string            `json:"base_dir"`
	CWD        string            `json:"cwd"`
	Workers    bool              `json:"workers"`
}

// logFiles are names in the trial's directory; "" keeps no log.
type logFiles struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

var defaultLog = logFiles{Stdout: "stdout", Stderr: "stderr"}

// UnmarshalJSON takes true and false too.
func (l *logFiles) UnmarshalJSON(b []byte) error {
	var on bool
	if json.Unmarshal(b, &on) == nil {
		*l = logFiles{}
		if on {
			*l = defaultLog
		}
		return nil
	}
	type plain logFiles
	return strict(b, (*plain)(l))
}

func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func parseOptions(b []byte) (*options, error) {
	o := &options{}
	if err := strict(b, o); err != nil {
		return nil, fmt.Errorf("trainable command: options: %w", err)
	}
	if o.Log == nil {
		o.Log = &logFiles{Stdout: defaultLog.Stdout, Stderr: defaultLog.Stderr}
	}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	return o, nil
}

func (o *options) check() error {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return errors.New("command is empty: write [PROGRAM, ARGUMENT, ...]")
	}
	if !(o.Deadline >= 0 && o.Deadline <= maxSeconds) {
		return fmt.Errorf("deadline is %v: expected seconds from 0", o.Deadline)
	}
	for _, f := range []string{o.Log.Stdout, o.Log.Stderr} {
		if err := checkLogName(f); err != nil {
			return err
		}
	}
	return o.checkEnv()
}

// maxSeconds keeps durations well inside time.Duration.
const maxSeconds = 1e9

func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), maxSeconds) * float64(time.Second))
}

// reserved are the files of a trial's directory that are the host's.
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

func (o *options) inherit() bool { return o.InheritEnv == nil || *o.InheritEnv }

// pattern finds one metric in a line.
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
