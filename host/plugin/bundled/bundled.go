// Package bundled starts the plugins that are part of the tunehost binary. The binary starts itself as
// a plugin process, so that bundled plugins run as all others do.
//
// The program makes one [Registry], which looks at the arguments first:
//
//	plugins := bundled.New(random.Plugin, asha.Plugin, …)
//	if handled, exit := plugins.Main(os.Args[1:]); handled {
//		os.Exit(exit)
//	}
package bundled

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/reaper"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/smallheap"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/sdk/serve/forks"
)

// The hidden first arguments of a process that serves a plugin, and of one that waits for the end of
// its host.
const (
	command = "plugin-serve"
	waiting = reaper.Command
)

// agent is the first argument of a process that an executor starts on a node. bridge is the second argument
// of a process that connects the host with that process.
const (
	agent  = "agent"
	bridge = "bridge"
)

// simulation is the first argument of a process that simulates, and simulationRoom how many bytes it may allocate
// between two collections: it is short-lived, and most of its memory is garbage soon.
const (
	simulation     = "simulate"
	simulationRoom = 256 << 20
)

// agents is the program of an agent; nil: this program cannot be one.
var agents func(args []string, reaper func(mark string) *exec.Cmd, out io.Writer) (exit int)

// Agents sets the function that runs when an executor starts this program as an agent, with the arguments
// after it. A package that hosts experiments calls it when it is initialized.
func Agents(main func(args []string, reaper func(mark string) *exec.Cmd, out io.Writer) (exit int)) {
	agents = main
}

// asAgent reports whether an executor has started this program on a node. A bridge has no variables.
func asAgent(args []string) bool {
	if len(args) == 0 || args[0] != agent || agents == nil {
		return false
	}
	return os.Getenv(sdk.AgentVariable) != "" || os.Getenv(sdk.RankVariable) != "" || len(args) > 1 && args[1] == bridge
}

type key struct {
	kind sdk.Kind
	name string
}

// Registry is a table of plugins.
type Registry struct {
	sets   map[key]serve.Set
	values map[key]any
	infos  []sdk.Info
	served atomic.Bool
}

// New makes a table of sdk.SearcherPlugin, sdk.SchedulerPlugin, sdk.TrainablePlugin,
// sdk.ReporterPlugin and sdk.ExecutorPlugin values. It panics on any other value and
// on a name that is taken: both are bugs of the program.
func New(plugins ...any) *Registry {
	r := &Registry{sets: map[key]serve.Set{}, values: map[key]any{}}
	for _, p := range plugins {
		r.add(p)
	}
	return r
}

// With returns the table with one more plugin, which only runs in the host's process.
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
	case sdk.ExecutorPlugin:
		info, set.Executor = guard.Describe(p.Info, sdk.KindExecutor), &p
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

// looked says that the program has called Main of a table.
var looked atomic.Bool

// Serves reports whether this program serves the table's plugins when it is started for
// that, which is true if it has called Main. A program that has not called Main would run
// as at any other start.
func (r *Registry) Serves() bool { return r.served.Load() }

// Watches reports whether this program can be started as a reaper ([Registry.Reaper]) and
// for the sandbox. A call of any table's Main is enough.
func Watches() bool { return looked.Load() }

// errServesNone says that this program cannot run modules, because a module runs in a process of
// this program.
var errServesNone = errors.New("this program cannot start processes of its own for plugins: it must first pass its " +
	"arguments to its table of plugins (Registry.Main in package bundled)")

// Main serves a plugin or runs a module in the sandbox, if the arguments ask for it. It returns
// whether they did, and the exit status. It must be called first.
func (r *Registry) Main(args []string) (handled bool, exit int) {
	looked.Store(true)
	r.served.Store(true)
	process.ServesForks(executableOf(os.Getpid()))
	if len(args) == 2 && args[0] == waiting {
		reaper.Serve(args[1])
		return true, 0
	}
	if len(args) > 0 && args[0] == sandbox.Command {
		return true, sandbox.Main(args[1:])
	}
	if len(args) > 0 && args[0] == forks.Command {
		return true, forks.Main(args[1:])
	}
	if asAgent(args) {
		return true, agents(args[1:], r.Reaper, os.Stderr)
	}
	if len(args) == 0 || args[0] != command {
		return false, 0
	}
	if !servesPlugin(args) {
		fmt.Fprintf(os.Stderr, "%s is for tunehost itself: KIND and NAME must follow\n", command)
		return true, 2
	}
	set, ok := r.sets[key{sdk.Kind(args[1]), args[2]}]
	if !ok {
		fmt.Fprintf(os.Stderr, "tunehost has no %s %q\n", args[1], args[2])
		return true, 2
	}
	smallheap.Adapt()
	return true, serve.Run(set)
}

// AdaptRuntime adapts the Go runtime to the work of a process with these arguments. It is for programs that
// only host experiments and have plugins that do not compute in parallel.
func (r *Registry) AdaptRuntime(args []string) {
	smallheap.Adapt()
	if len(args) > 0 && args[0] == simulation {
		smallheap.Roomy(simulationRoom)
	}
	if servesPlugin(args) || len(args) > 0 && (args[0] == agent || args[0] == forks.Command) {
		// An agent and a server of forks only forward data. With a second processor the runtime would wake a thread
		// whenever one goroutine passes work to another, which costs more than most of the work.
		runtime.GOMAXPROCS(1)
	}
}

func servesPlugin(args []string) bool { return len(args) == 3 && args[0] == command }

// Reaper returns the command of a process that kills all processes with the mark once its standard
// input ends.
func (r *Registry) Reaper(mark string) *exec.Cmd { return exec.Command(executable(), waiting, mark) }

// Guard returns a guard of processes of no experiment: plugins of a command that is no host.
func (r *Registry) Guard() *reaper.Guard {
	if !Watches() {
		return reaper.NewGuard(local.NewMarkAlone(), nil)
	}
	return reaper.NewGuard(local.NewMarkAlone(), r.Reaper)
}

// Infos describes every plugin, in the order of the table, without starting any.
func (r *Registry) Infos() []sdk.Info { return r.infos }

// Lookup returns a plugin's value, for simulation in the host's process; nil if there is none of this
// kind and name.
func (r *Registry) Lookup(kind sdk.Kind, name string) any { return r.values[key{kind, name}] }

// Config returns how to start a plugin's process; the caller adds its log. ok is false if there is no
// such plugin.
func (r *Registry) Config(kind sdk.Kind, name string) (c process.Config, ok bool) {
	if _, ok := r.sets[key{kind, name}]; !ok {
		return c, false
	}
	c.Program = process.Program{Kind: kind, Name: name, Path: executable(), Args: []string{command, string(kind), name}}
	if kind == sdk.KindExecutor {
		c.Inherit = engineVariables()
	} else {
		c.Env = []string{smallheap.Variable} // initialization alone would take two collections
	}
	return c, true
}

// engineVariables names the variables with which the programs of an engine find it and identify the user:
// all except tunehost's own, because they differ between engines and sites.
func engineVariables() (names []string) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "" && !strings.HasPrefix(name, "TUNEHOST_") {
			names = append(names, name)
		}
	}
	return names
}

// Sandbox returns how to start a WASM module; the caller adds its log.
func (r *Registry) Sandbox(c sandbox.Config) (process.Config, error) {
	if !Watches() {
		return process.Config{}, errServesNone
	}
	return c.Process(executable())
}

// executable returns the path of this program. On Linux it is the kernel's own link to the running
// file, which stays valid when another file is installed in its place.
func executable() string {
	if self := executableOf(0); self != "" {
		return self
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// executableOf returns the kernel's link to the file that a process runs, 0 for this one; "" if there is none.
func executableOf(pid int) string {
	name := "self"
	if pid != 0 {
		name = strconv.Itoa(pid)
	}
	link := filepath.Join("/proc", name, "exe")
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}
