// Package bundled starts the plugins that are part of the tunehost binary: the
// binary starts itself as a plugin process, so that bundled plugins take the
// road that all others take.
//
// The program makes one [Registry] and gives it the first look at its
// arguments:
//
//	plugins := bundled.New(random.Plugin, asha.Plugin, …)
//	if handled, exit := plugins.Main(os.Args[1:]); handled {
//		os.Exit(exit)
//	}
package bundled

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/warden"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// The hidden first arguments of a process that serves a plugin, and of one that
// waits for its host's end.
const (
	command = "plugin-serve"
	waiting = "plugin-warden"
)

type key struct {
	kind sdk.Kind
	name string
}

// Registry is a table of plugins.
type Registry struct {
	sets   map[key]serve.Set
	values map[key]any
	infos  []sdk.Info
}

// New makes a table of sdk.SearcherPlugin, sdk.SchedulerPlugin,
// sdk.TrainablePlugin and sdk.ReporterPlugin values. It panics on anything else and on a name that is
// taken: both are bugs of the program.
func New(plugins ...any) *Registry {
	r := &Registry{sets: map[key]serve.Set{}, values: map[key]any{}}
	for _, p := range plugins {
		r.add(p)
	}
	return r
}

// With is the table with one more plugin, which only runs in the host's process.
func (r *Registry) With(value any) *Registry {
	more := &Registry{sets: maps.Clone(r.sets), values: maps.Clone(r.values), infos: slices.Clone(r.infos)}
	more.add(value)
	return more
}

func (r *Registry) add(value any) {
	var info sdk.Info
	var set serve.Set
	switch p := value.(type) {
	case sdk.SearcherPlugin:
		info, set.Searcher = guard.Describe(p.Info, sdk.KindSearcher), &p
	case sdk.SchedulerPlugin:
		info, set.Scheduler = guard.Describe(p.Info, sdk.KindScheduler), &p
	case sdk.TrainablePlugin:
		info, set.Trainable = guard.Describe(p.Info, sdk.KindTrainable), &p
	case sdk.ReporterPlugin:
		info, set.Reporter = guard.Describe(p.Info, sdk.KindReporter), &p
	default:
		panic(fmt.Sprintf("bundled: %T is not a plugin", value))
	}
	k := key{info.Kind, info.Name}
	if _, taken := r.sets[k]; taken {
		panic(fmt.Sprintf("bundled: two plugins are the %s %q", k.kind, k.name))
	}
	r.sets[k], r.values[k] = set, value
	r.infos = append(r.infos, info)
}

// Main serves a plugin, or runs a module in the sandbox, if the arguments ask for
// that, and says whether they did, and the exit status. It is to be called before anything else.
func (r *Registry) Main(args []string) (handled bool, exit int) {
	if len(args) == 2 && args[0] == waiting {
		warden.Serve(os.Stdin, args[1])
		return true, 0
	}
	if len(args) > 0 && args[0] == sandbox.Command {
		return true, sandbox.Main(args[1:])
	}
	if len(args) == 0 || args[0] != command {
		return false, 0
	}
	if len(args) != 3 {
		fmt.Fprintf(os.Stderr, "%s is for tunehost itself: KIND and NAME must follow\n", command)
		return true, 2
	}
	set, ok := r.sets[key{sdk.Kind(args[1]), args[2]}]
	if !ok {
		fmt.Fprintf(os.Stderr, "tunehost has no %s %q\n", args[1], args[2])
		return true, 2
	}
	return true, serve.Run(set)
}

// Warden is the command of a process that kills what bears the mark once its
// standard input has ended.
func (r *Registry) Warden(mark string) *exec.Cmd { return exec.Command(executable(), waiting, mark) }

// Infos describes every plugin, in the order of the table, without starting
// any.
func (r *Registry) Infos() []sdk.Info { return r.infos }

// Lookup returns a plugin's value, for simulation in the host's process; nil
// when there is none of this kind and name.
func (r *Registry) Lookup(kind sdk.Kind, name string) any { return r.values[key{kind, name}] }

// Config is how to start a plugin's process; the caller adds where its log
// goes. ok is false when there is no such plugin.
func (r *Registry) Config(kind sdk.Kind, name string) (c process.Config, ok bool) {
	if _, ok := r.sets[key{kind, name}]; !ok {
		return c, false
	}
	return process.Config{
		Kind: kind, Name: name,
		Path: executable(), Args: []string{command, string(kind), name},
	}, true
}

// Sandbox is how to start a WASM module; the caller adds where its log goes.
func (r *Registry) Sandbox(c sandbox.Config) (process.Config, error) { return c.Process(executable()) }

// executable is this program. The kernel's own link is the very file that is
// running, even when another has been installed in its place since.
func executable() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
