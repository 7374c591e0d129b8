package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// Plugin returns the trainable to be served. One process runs any number of trials; programs make
// their own checkpoints.
func Plugin() sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{
			Kind: sdk.KindTrainable, Name: "command", Version: "1.0.0",
			Summary: "Any program in any language, started once for each trial.",
			Options: declared.Schema(),
		},
		Open: open,
		Check: func(options, _ []byte) error {
			_, err := newProgram(options)
			return err
		},
	}
}

func open(b []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
	p, err := newProgram(b)
	if err != nil {
		return nil, sdk.TrainableTraits{}, err
	}
	return p, sdk.TrainableTraits{Reusable: true, Shared: true}, nil
}

// A program is the user's command, which can be started for any trial.
type program struct {
	o       *options
	command []argv.Template
	env     []string
	path    string // PATH of the program
	// ownPath: PATH differs from this process's, but only by a folder of this node.
	ownPath  bool
	patterns []pattern
	deadline time.Duration
	sockets  *sockets
	ports    ports
	hinted   sync.Map // topics of hints that the user has seen
	room     *room
	warm     *warm
}

func newProgram(b []byte) (*program, error) {
	o, err := parseOptions(b)
	if err != nil {
		return nil, err
	}
	p := &program{o: o, deadline: seconds(o.Deadline), sockets: newSockets(), room: newRoom(openFilesLimit()),
		warm: newWarm()}
	if p.command, err = argv.Command(o.Command, o.BaseDir, o.known()); err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	if p.patterns, err = o.compilePatterns(); err != nil {
		return nil, fmt.Errorf("trainable command: %w", err)
	}
	base := o.baseEnv()
	if path := withReporter(base["PATH"]); path != base["PATH"] {
		base["PATH"], p.ownPath = path, o.Env["PATH"] == ""
	}
	p.env, p.path = flat(base), base["PATH"]
	return p, nil
}

// arguments returns the arguments of one trial.
func (p *program) arguments(values params, paramsPath string) ([]string, error) {
	var args []string
	for _, t := range p.command {
		if len(t) == 3 && t[0] == "" && t[1] == argv.Flags && t[2] == "" && !p.isParameter(argv.Flags) {
			args = append(args, values.flags()...)
			continue
		}
		arg, err := t.Expand(func(name string) (string, bool) { return p.value(values, name, paramsPath) })
		if err != nil {
			return nil, fmt.Errorf("command: %w", err)
		}
		args = append(args, arg)
	}
	if len(args) == 0 {
		return nil, errors.New("command: {flags} alone names no program; put one first")
	}
	args[0] = argv.Program(args[0], p.o.BaseDir)
	return args, nil
}

// value returns the value of a name in braces, or nothing if the trial lacks the parameter.
func (p *program) value(values params, name, paramsPath string) (string, bool) {
	if name == argv.Params {
		return paramsPath, true
	}
	v, ok := values.text[strings.ReplaceAll(name, ".", "/")]
	if exact, is := values.text[name]; is {
		v, ok = exact, true
	}
	if !ok && name == argv.Flags && !p.isParameter(name) {
		return values.words(), true
	}
	return v, ok || p.o.Parameters != nil
}

func (p *program) isParameter(name string) bool {
	return p.o.Parameters != nil && slices.Contains(*p.o.Parameters, name)
}

// known returns a function that reports which names in braces are parameters.
func (o *options) known() func(name string) bool {
	if o.Parameters == nil {
		return nil
	}
	return func(name string) bool {
		return slices.ContainsFunc(*o.Parameters, func(p string) bool {
			return p == name || strings.ReplaceAll(p, "/", ".") == name
		})
	}
}

// starter returns what starts the program of a trial.
func (p *program) starter() func(string, []string, *syscall.ProcAttr) (*process, error) {
	if p.o.Warm {
		return p.warm.start
	}
	return start
}

// LaunchesPrograms implements sdk.Launcher.
func (p *program) LaunchesPrograms() {}

// Train runs one attempt. It implements sdk.Trainable.
func (p *program) Train(ctx context.Context, run sdk.Run) error {
	w := &waiter{ctx: ctx, run: run, began: time.Now()}
	done, err := p.admit(w, newAttempt(p, run).descriptors())
	if err != nil {
		return err
	}
	defer done()
	for {
		try := p.room.begin()
		err := p.attempt(ctx, w)
		var starved *starvedError
		if !errors.As(err, &starved) || p.room.wasAlone(try) {
			return err
		}
		w.hint(starved.hint())
		if !p.room.rest(try) {
			continue // it has all the room now
		}
		if err := w.untilFreed(try.freed); err != nil {
			return err
		}
	}
}

// attempt runs the program once.
func (p *program) attempt(ctx context.Context, w *waiter) error {
	a, err := p.begin(w)
	defer a.release()
	if err != nil {
		return err
	}
	a.supervise(ctx)
	a.finish()
	a.sumRejected()
	return a.whatLacked(a.outcome(ctx))
}
