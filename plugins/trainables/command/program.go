package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the trainable as it is served. One process runs any number of
// trials; programs make their checkpoints themselves.
func Plugin() sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{
			Kind: sdk.KindTrainable, Name: "command", Version: "1.0.0",
			Summary: "Any program in any language, started once for each trial.",
			Options: schema,
		},
		Open: open,
	}
}

func open(b []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	p, err := newProgram(b)
	if err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	return p, sdk.TrainableTraits{Reusable: true, Shared: true}, nil
}

// program is the user's command, ready to be started for any trial.
type program struct {
	o        *options
	command  []template
	env      []string
	path     string // PATH as the program will have it
	patterns []pattern
	deadline time.Duration
	sockets  *sockets
	ports    ports
}

func newProgram(b []byte) (*program, error) {
	o, err := parseOptions(b)
	if err != nil {
		return nil, err
	}
	p := &program{o: o, deadline: seconds(o.Deadline), sockets: newSockets()}
	if p.command, err = o.templates(); err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	if p.patterns, err = o.compilePatterns(); err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	base := o.baseEnv()
	p.env, p.path = flat(base), base["PATH"]
	return p, nil
}

// templates parses the command; names of files are made absolute.
func (o *options) templates() ([]template, error) {
	base, err := filepath.Abs(o.BaseDir)
	if err != nil {
		return nil, fmt.Errorf("base_dir: %w", err)
	}
	ts := make([]template, len(o.Command))
	for i, arg := range o.Command {
		t, err := parseTemplate(arg)
		if err != nil {
			return nil, fmt.Errorf("command: %q: %w", arg, err)
		}
		if err := o.checkNames(t); err != nil {
			return nil, err
		}
		ts[i] = absolute(t, base, i == 0)
	}
	return ts, nil
}

func (o *options) checkNames(t template) error {
	if o.Parameters == nil {
		return nil
	}
	for _, name := range t.names() {
		if name != "params" && !slices.Contains(o.Parameters, name) {
			return unknownPlaceholder(name)
		}
	}
	return nil
}

// absolute makes the name of an existing file absolute; a program is no
// folder. A program that names a place that is not there stays relative to the
// experiment file all the same.
func absolute(t template, base string, isProgram bool) template {
	arg := t[0]
	if len(t) > 1 || arg == "" || filepath.IsAbs(arg) {
		return t
	}
	path := filepath.Join(base, arg)
	info, err := os.Stat(path)
	switch {
	case isProgram && (strings.Contains(arg, "/") || err == nil && info.Mode().IsRegular()):
		return template{path}
	case !isProgram && err == nil:
		return template{path}
	}
	return t
}

// arguments are those of one trial.
func (p *program) arguments(values params, paramsPath string) ([]string, error) {
	args := make([]string, len(p.command))
	for i, t := range p.command {
		var err error
		args[i], err = t.expand(func(name string) (string, bool) {
			if name == "params" {
				return paramsPath, true
			}
			v, ok := values[name]
			return v, ok || p.o.Parameters != nil
		})
		if err != nil {
			return nil, err
		}
	}
	return args, nil
}

// LaunchesPrograms implements sdk.Launcher.
func (p *program) LaunchesPrograms() {}

// Train runs one attempt. It implements sdk.Trainable.
func (p *program) Train(ctx context.Context, run sdk.Run) error {
	a := newAttempt(p, run)
	defer a.release()
	if err := a.start(); err != nil {
		return err
	}
	a.supervise(ctx)
	a.finish()
	return a.outcome(ctx)
}
