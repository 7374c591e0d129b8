// Package opening starts the plugins that an experiment names, in processes or in this one, and
// repeats to them what earlier hosts told them.
package opening

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/config/spec"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// Opener starts the plugins that an experiment names.
type Opener struct {
	exec.Marked   // the processes that this host starts
	Experiment    *config.Experiment
	Seed          uint64
	Bundled       *bundled.Registry
	Loader        *loading.Loader
	BaseDir       string // of the experiment file
	Log           *hostlog.Log
	LogPath       string
	Clock         clock.Clock
	Executor      exec.Executor     // of trainables; nil: this machine's
	Capacity      map[string]string // total capacity
	Planned       *int64            // number of trials, if it differs from the file's
	Timeout       time.Duration     // of every call; 0: each has its own
	Run           string            // its id
	Shelf         snapshots.Shelf   // nil: no snapshots are kept
	SnapshotEvery uint64
	// InProcess runs bundled plugins without a process of their own; Direct, without deadlines too; Alone,
	// also in one goroutine.
	InProcess, Direct, Alone bool
	// Trusted allows plugins that are not bundled.
	Trusted bool
}

// isModule reports whether a plugin is a WASM module.
func (o *Opener) isModule(kind sdk.Kind, ref config.PluginRef) bool {
	p, err := o.Loader.Load(kind, ref)
	return err == nil && p.Transport() == string(folder.WASM)
}

// IsBundled reports whether a plugin comes with this program.
func (o *Opener) IsBundled(kind sdk.Kind, ref config.PluginRef) bool {
	p, err := o.Loader.Load(kind, ref)
	return err == nil && p.Bundled != nil
}

// Start starts one plugin at a place; if that is nil, on the host's machine.
func (o *Opener) Start(ctx context.Context, kind sdk.Kind, ref config.PluginRef, at *exec.Place) (plugin.Plugin,
	error) {
	if !o.Trusted && Foreign(o.Bundled, kind, ref) {
		return nil, &untrustedError{kind, ref}
	}
	p, err := o.Loader.Load(kind, ref)
	if err != nil {
		return nil, err
	}
	limit := o.Limit(kind, ref, deadlines.Start)
	defer o.watch(kind, ref, deadlines.Start, limit)()
	start := o.starter(at)
	if p.Bundled != nil {
		return o.startBundled(ctx, kind, ref.Name, limit, start)
	}
	running, err := p.Start(ctx, o.Bundled, o.BaseDir, limit, o.Experiment.Sandbox, start)
	if err == nil {
		o.doubt(p)
	}
	return running, err
}

// doubt warns of mistakes of the author of a plugin with which it works.
func (o *Opener) doubt(p *loading.Plugin) {
	for _, text := range append(p.WrongDefaults(), p.Differences()) {
		if text != "" {
			o.Log.Once(text, text)
		}
	}
}

// starter starts processes at a place, or beside the host.
func (o *Opener) starter(at *exec.Place) loading.Starter {
	here := o.Here()
	if at == nil {
		return here.Run
	}
	return func(ctx context.Context, what process.Program) (plugin.Plugin, error) {
		return o.executor(here).Start(ctx, what, *at)
	}
}

// Here starts processes on this machine.
func (o *Opener) Here() *exec.Local {
	return &exec.Local{Marked: o.Marked, Log: o.logLine, LogPath: o.LogPath}
}

func (o *Opener) executor(here *exec.Local) exec.Executor {
	if o.Executor != nil {
		return o.Executor
	}
	return here
}

func (o *Opener) startBundled(ctx context.Context, kind sdk.Kind, name string, within time.Duration,
	start loading.Starter) (plugin.Plugin, error) {
	switch {
	case o.Direct:
		return inproc.Direct(o.Bundled.Lookup(kind, name))
	case o.InProcess:
		return inproc.New(o.Bundled.Lookup(kind, name))
	}
	c, _ := o.Bundled.Config(kind, name)
	// The command trainable also finds processes that have left their group and cleared their environment,
	// if it is given the time.
	c.Outlives = kind == sdk.KindTrainable && name == commandPlugin
	c.StartTimeout = within
	return start(ctx, c.Program)
}

// logLine logs a plugin's line, with its tracebacks below it.
func (o *Opener) logLine(name string, l process.Line) {
	args := []any{"plugin", name}
	for _, t := range l.Traces {
		args = append(args, t.Name, strings.Join(t.Lines, "\n"))
	}
	switch l.Level {
	case "error":
		o.Log.Error(l.Text, args...)
	case "warn":
		o.Log.Warn(l.Text, args...)
	default:
		o.Log.Debug(l.Text, args...)
	}
}

// Problem returns the description of the experiment with which a plugin is opened.
func (o *Opener) Problem(use seeds.Purpose) sdk.Problem {
	e := o.Experiment
	planned := spec.Trials(e)
	if o.Planned != nil {
		planned = *o.Planned
	}
	if use == seeds.Scheduler && planned > 0 {
		planned *= max(e.Repeat, 1) // the plugin sees each run
	}
	p := sdk.Problem{Space: e.Space, Seed: seeds.For(o.Seed, use, 0), Trials: int(max(planned, 0)),
		Concurrency: int(e.Concurrency)}
	for _, x := range e.Objectives {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: x.Metric, Mode: sdk.Mode(x.Mode)})
	}
	if r, err := request.Of(e); err == nil && len(r.Bundles()) == 1 {
		p.Request = request.Sum(r)
	}
	if len(o.Capacity) > 0 {
		p.Capacity, _ = json.Marshal(o.Capacity) // a map of texts: it cannot fail
	}
	return p
}

func (o *Opener) supervision(kind sdk.Kind, ref config.PluginRef, h *Redelivery, to core.Audience,
	traits func() sdk.Traits) plugin.Supervision {
	return plugin.Supervision{
		Name: title(kind, ref), Now: o.Clock.Now, History: h.Tell(to, traits),
		Limit:           func(c deadlines.Call) time.Duration { return o.Limit(kind, ref, c) },
		Watch:           func(c deadlines.Call, limit time.Duration) func() { return o.watch(kind, ref, c, limit) },
		Placed:          placedIn(kind, ref),
		Restarted:       o.restarted(title(kind, ref)+" ", "is restarted with its state: "),
		SnapshotDropped: func(err error) { o.Log.Info("its snapshot is not used: " + err.Error()) },
	}
}

// restarted tells the user of a failure of the plugin with a title, and what is done; a repeated one is only mentioned.
func (o *Opener) restarted(title, done string) func(error) {
	done = title + done
	said := ""
	return func(err error) {
		text := done + strings.TrimPrefix(err.Error(), title)
		if text == said {
			o.Log.Info(text)
			text = done + "the same failure has happened again"
		} else {
			said = text
		}
		o.Log.Warn(text)
	}
}

// snapshots returns the snapshots of a plugin; they depend on the run, the plugin, its program, its
// options and its problem.
func (o *Opener) snapshots(kind sdk.Kind, use seeds.Purpose, refs ...config.PluginRef) *snapshots.Snapshots {
	problem, err := proto.MarshalOptions{Deterministic: true}.Marshal(wire.ProblemToProto(o.Problem(use)))
	if err != nil {
		problem = []byte(err.Error()) // a name that is not valid text; the error is the same each time
	}
	h := sha256.New()
	part := func(b []byte) { fmt.Fprintf(h, "%d %s ", len(b), b) }
	part([]byte(o.Run))
	for _, ref := range refs {
		part([]byte(kind))
		part([]byte(ref.Name))
		part([]byte(o.program(kind, ref)))
		part(ref.Options)
	}
	part(problem)
	return snapshots.New(o.Shelf, kind, hex.EncodeToString(h.Sum(nil)), o.SnapshotEvery, o.Log)
}

// program identifies a release of the plugin.
func (o *Opener) program(kind sdk.Kind, ref config.PluginRef) string {
	p, err := o.Loader.Load(kind, ref)
	if err != nil {
		return "" // the plugin will not start either
	}
	return p.Release()
}

// Searcher opens the searcher, told of everything up to an observation.
func (o *Opener) Searcher(ctx context.Context, h *Redelivery, through uint64,
	kept *snapshots.Snapshots) (s plugin.Searcher, err error) {
	ref := o.Experiment.Searcher
	var traits sdk.Traits
	care := o.supervision(sdk.KindSearcher, ref, h, core.ToSearcher, func() sdk.Traits { return traits })
	care.Through = through
	care.Snapshot, care.SnapshotAt = kept.Newest(through)
	return plugin.SuperviseSearcher(ctx, care, func(ctx context.Context, snapshot []byte) (plugin.Searcher, error) {
		p, err := o.Start(ctx, sdk.KindSearcher, ref, nil)
		if err != nil {
			return nil, err
		}
		s, err := Opened(ctx, o, sdk.KindSearcher, ref, deadlines.Open,
			func(ctx context.Context) (plugin.Searcher, error) {
				return p.OpenSearcher(ctx, o.Problem(seeds.Searcher), ref.Options, snapshot)
			})
		if err != nil {
			_ = p.Close()
			return nil, refused(ref, err)
		}
		traits = s.Traits()
		return s, nil
	})
}

// Trainable starts a process of the trainable at a place.
func (o *Opener) Trainable(ctx context.Context, at exec.Place) (plugin.Trainer, error) {
	ref, options, err := o.TrainableRef()
	if err != nil {
		return nil, err
	}
	p, err := o.Start(ctx, sdk.KindTrainable, ref, &at)
	if err != nil {
		return nil, err
	}
	t, err := Opened(ctx, o, sdk.KindTrainable, ref, deadlines.Load, func(ctx context.Context) (plugin.Trainer, error) {
		return p.OpenTrainable(ctx, options)
	})
	if err != nil {
		_ = p.Close()
		if plugin.FailureOf(err) == plugin.Hung {
			return nil, Placed(ref, err)
		}
		return nil, refused(ref, err)
	}
	return t, nil
}

// FirstTrainable starts a process of the trainable that the whole experiment waits for: if it is
// killed during its start, it is started again.
func (o *Opener) FirstTrainable(ctx context.Context) (plugin.Trainer, error) {
	ref, _, err := o.TrainableRef()
	if err != nil {
		return nil, err
	}
	name := title(sdk.KindTrainable, ref)
	t, err := plugin.OpenAgain(ctx, name, o.restarted(name+" ", "is started again: "),
		func(ctx context.Context) (plugin.Trainer, error) { return o.Trainable(ctx, exec.Place{}) })
	return t, Placed(ref, err)
}

// commandPlugin is the bundled trainable that runs the user's program.
const commandPlugin = "command"

// TrainableRef returns the trainable plugin and its options; a command uses the command trainable.
func (o *Opener) TrainableRef() (config.PluginRef, []byte, error) {
	t := o.Experiment.Trainable
	if t.Plugin != nil {
		return *t.Plugin, t.Plugin.Options, nil
	}
	options, err := json.Marshal(o.commandOptions())
	return config.PluginRef{Name: commandPlugin, Options: options, Pos: o.Experiment.PosOf("trainable")}, options, err
}

func (o *Opener) commandOptions() map[string]any {
	e, t := o.Experiment, o.Experiment.Trainable
	var objectives []string
	for _, x := range e.Objectives {
		objectives = append(objectives, x.Metric)
	}
	metrics := map[string]string{}
	for name, re := range t.Metrics {
		metrics[name] = re.String()
	}
	return map[string]any{"command": t.Command, "env": orEmpty(t.Env), "inherit_env": t.InheritEnv,
		"environ": o.environ(),
		"metrics": metrics, "objectives": objectives, "parameters": e.ParameterNames(),
		"cwd": t.CWD, "log": logOption(e.Log), "deadline": t.Deadline.Seconds(), "base_dir": o.BaseDir,
		"warm":    t.Warm,
		"workers": e.Placement != nil && e.Placement.Workers}
}

// environ returns the user's environment; nil: that of the process, which its engine has set.
func (o *Opener) environ() []string {
	if o.Executor != nil {
		return nil
	}
	return os.Environ()
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// logOption returns the command trainable's option for the output of a program.
func logOption(l config.Log) any {
	if !l.On || l.Stdout == "" && l.Stderr == "" {
		return l.On
	}
	stdout, stderr := l.Files()
	return map[string]string{"stdout": stdout, "stderr": stderr}
}

// Plugins are the opened plugins of an experiment.
type Plugins struct {
	Searcher  plugin.Searcher
	Scheduler plugin.Scheduler
	Trainer   plugin.Trainer // nil: the caller trains
	// Searched and Scheduled are their snapshots; Told is the last event that the searcher was told when
	// it was opened.
	Searched, Scheduled *snapshots.Snapshots
	Told                uint64
}

// Open opens the plugins of an experiment: it tells the searcher what has happened up to the
// observation told, and the scheduler up to decided. It tells which of them are not open yet.
func (o *Opener) Open(ctx context.Context, h *Redelivery, told, decided uint64, tell func(what string)) (p Plugins,
	err error) {
	p.Told = told
	p.Searched = o.snapshots(sdk.KindSearcher, seeds.Searcher, o.Experiment.Searcher)
	p.Scheduled = o.snapshots(sdk.KindScheduler, seeds.Scheduler, o.Experiment.Schedulers()...)
	var wait sync.WaitGroup
	var errs [3]error
	begin := wait.Go
	if o.Alone {
		begin = func(f func()) { f() }
	}
	waits := &awaited{tell: tell}
	e := o.Experiment
	begin(func() {
		waits.during("searcher "+e.Searcher.Name, func() {
			p.Searcher, errs[0] = o.Searcher(ctx, h, told, p.Searched)
		})
	})
	begin(func() {
		waits.during("scheduler "+e.Scheduler.Name, func() {
			p.Scheduler, errs[1] = o.Scheduler(ctx, h, decided, p.Scheduled)
		})
	})
	if e.Trainable != nil {
		begin(func() { waits.during("the trainable", func() { p.Trainer, errs[2] = o.FirstTrainable(ctx) }) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			p.Close()
			return p, err
		}
	}
	return p, nil
}

// Traits returns the traits that the plugins have reported.
func (p *Plugins) Traits() spec.Traits {
	t := spec.Traits{Searcher: p.Searcher.Traits(), Scheduler: p.Scheduler.Traits()}
	if p.Trainer != nil {
		t.Trainable = p.Trainer.Traits()
	}
	return t
}

// Close closes all plugins.
func (p *Plugins) Close() {
	var wait sync.WaitGroup
	if p.Searcher != nil {
		wait.Go(func() { _ = p.Searcher.Close() })
	}
	if p.Scheduler != nil {
		wait.Go(func() { _ = p.Scheduler.Close() })
	}
	if p.Trainer != nil {
		wait.Go(func() { _ = p.Trainer.Close() })
	}
	wait.Wait()
}
