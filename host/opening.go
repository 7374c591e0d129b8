package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/loading"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/folder"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// opener starts the plugins that an experiment names.
type opener struct {
	experiment    *config.Experiment
	seed          uint64
	plugins       *bundled.Registry
	loader        *loading.Loader
	baseDir       string // of the experiment file
	log           *hostlog.Log
	logPath       string
	clock         clock.Clock
	mark          string            // of what this host starts
	capacity      map[string]string // what there was in all
	planned       *int64            // trials, where they are not those of the file
	timeout       time.Duration     // of every call; 0: each has its own
	run           string            // its id
	shelf         snapshots.Shelf   // nil: no snapshots are kept
	snapshotEvery uint64
	// inProcess runs bundled plugins without a process of their own; direct, without
	// deadlines too; alone, also in one goroutine.
	inProcess, direct, alone bool
	// trusted lets plugins be started that are not bundled.
	trusted bool
}

// isModule says whether a plugin is a WASM module.
func (o *opener) isModule(kind sdk.Kind, ref config.PluginRef) bool {
	p, err := o.loader.Load(kind, ref)
	return err == nil && p.Transport() == string(folder.WASM)
}

func (o *opener) isBundled(kind sdk.Kind, ref config.PluginRef) bool {
	p, err := o.loader.Load(kind, ref)
	return err == nil && p.Bundled != nil
}

// start starts one plugin.
func (o *opener) start(ctx context.Context, kind sdk.Kind, ref config.PluginRef, env []string) (plugin.Plugin, error) {
	if !o.trusted && foreign(o.plugins, kind, ref) {
		return nil, &untrustedError{kind, ref}
	}
	p, err := o.loader.Load(kind, ref)
	if err != nil {
		return nil, err
	}
	limit := o.limit(kind, ref, deadlines.Start)
	defer o.watch(kind, ref, deadlines.Start, limit)()
	configured := func(c process.Config) process.Config {
		c.StartTimeout = limit
		return o.configured(c, env)
	}
	if p.Bundled != nil {
		return o.startBundled(ctx, kind, ref.Name, configured)
	}
	return p.Start(ctx, o.plugins, o.baseDir, configured, o.experiment.Sandbox)
}

func (o *opener) startBundled(ctx context.Context, kind sdk.Kind, name string, configured func(process.Config) process.Config) (plugin.Plugin, error) {
	switch {
	case o.direct:
		return inproc.Direct(o.plugins.Lookup(kind, name))
	case o.inProcess:
		return inproc.New(o.plugins.Lookup(kind, name))
	}
	c, _ := o.plugins.Config(kind, name)
	// The one that starts programs finds also those that have left their group
	// and cleared their environment, if it is given the time.
	c.Outlives = kind == sdk.KindTrainable && name == commandPlugin
	return process.Start(ctx, configured(c))
}

func (o *opener) configured(c process.Config, env []string) process.Config {
	name := string(c.Kind) + " " + c.Name
	c.Wear = local.TagOf(o.mark).Wear
	c.Env, c.LogPath = append(slices.Clone(env), local.MarkVariable+"="+o.mark), o.logPath
	c.Log = func(l process.Line) { o.logLine(name, l) }
	return c
}

// logLine keeps a plugin's line in the log, with its tracebacks below it.
func (o *opener) logLine(name string, l process.Line) {
	args := []any{"plugin", name}
	for _, t := range l.Traces {
		args = append(args, t.Name, strings.Join(t.Lines, "\n"))
	}
	switch l.Level {
	case "error":
		o.log.Error(l.Text, args...)
	case "warn":
		o.log.Warn(l.Text, args...)
	default:
		o.log.Debug(l.Text, args...)
	}
}

func (o *opener) problem(use seeds.Purpose) sdk.Problem {
	e := o.experiment
	planned := plannedTrials(e)
	if o.planned != nil {
		planned = *o.planned
	}
	if use == seeds.Scheduler && planned > 0 {
		planned *= max(e.Repeat, 1) // it sees each run
	}
	p := sdk.Problem{Space: e.Space, Seed: seeds.For(o.seed, use, 0), Trials: int(max(planned, 0)), Concurrency: int(e.Concurrency)}
	for _, x := range e.Objectives {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: x.Metric, Mode: sdk.Mode(x.Mode)})
	}
	if r, err := demand.Of(e); err == nil && len(r.Bundles()) == 1 {
		p.Request = demand.Sum(r)
	}
	if len(o.capacity) > 0 {
		p.Capacity, _ = json.Marshal(o.capacity) // of texts: it cannot fail
	}
	return p
}

func (o *opener) supervision(kind sdk.Kind, ref config.PluginRef, h *retelling, to core.Audience, traits func() sdk.Traits) plugin.Supervision {
	return plugin.Supervision{
		Name: fmt.Sprintf("%s %q", kind, ref.Name), Now: o.clock.Now, History: h.tell(to, traits),
		Limit:     func(c deadlines.Call) time.Duration { return o.limit(kind, ref, c) },
		Watch:     func(c deadlines.Call, limit time.Duration) func() { return o.watch(kind, ref, c, limit) },
		Restarted: o.restarted(),
		Forgot:    func(err error) { o.log.Info("its snapshot is not used: " + err.Error()) },
	}
}

// restarted tells the user of a failure, at length only where it is another one.
func (o *opener) restarted() func(error) {
	said := ""
	return func(err error) {
		text := "it is restarted with what it knew: " + err.Error()
		if text == said {
			o.log.Info(text)
			text = "it is restarted with what it knew: the same has happened again"
		} else {
			said = text
		}
		o.log.Warn(text)
	}
}

// snapshots finds those of a plugin; what they are of is the run, the plugin, its
// program, its options and its problem.
func (o *opener) snapshots(kind sdk.Kind, use seeds.Purpose, refs ...config.PluginRef) *snapshots.Snapshots {
	problem, err := proto.MarshalOptions{Deterministic: true}.Marshal(wire.ProblemToProto(o.problem(use)))
	if err != nil {
		problem = []byte(err.Error()) // a name that is no text; it is the same the next time
	}
	h := sha256.New()
	part := func(b []byte) { fmt.Fprintf(h, "%d %s ", len(b), b) }
	part([]byte(o.run))
	for _, ref := range refs {
		part([]byte(kind))
		part([]byte(ref.Name))
		part([]byte(o.program(kind, ref)))
		part(ref.Options)
	}
	part(problem)
	return snapshots.New(o.shelf, kind, hex.EncodeToString(h.Sum(nil)), o.snapshotEvery, o.log)
}

// program tells one release of a plugin from the next.
func (o *opener) program(kind sdk.Kind, ref config.PluginRef) string {
	p, err := o.loader.Load(kind, ref)
	if err != nil {
		return "" // it will not start, either
	}
	return p.Release()
}

// searcher opens the searcher, told of everything up to an observation.
func (o *opener) searcher(ctx context.Context, h *retelling, through uint64, kept *snapshots.Snapshots) (s plugin.Searcher, err error) {
	ref := o.experiment.Searcher
	var traits sdk.Traits
	care := o.supervision(sdk.KindSearcher, ref, h, core.ToSearcher, func() sdk.Traits { return traits })
	care.Through = through
	care.Snapshot, care.SnapshotAt = kept.Newest(through)
	return plugin.SuperviseSearcher(ctx, care, func(ctx context.Context, snapshot []byte) (plugin.Searcher, error) {
		p, err := o.start(ctx, sdk.KindSearcher, ref, nil)
		if err != nil {
			return nil, err
		}
		s, err := opened(ctx, o, sdk.KindSearcher, ref, deadlines.Open, func(ctx context.Context) (plugin.Searcher, error) {
			return p.OpenSearcher(ctx, o.problem(seeds.Searcher), ref.Options, snapshot)
		})
		if err != nil {
			_ = p.Close()
			return nil, placed(ref, err)
		}
		traits = s.Traits()
		return s, nil
	})
}

// placed says where in the file the plugin is that refused its options.
func placed(ref config.PluginRef, err error) error {
	if plugin.FailureOf(err) == plugin.Refused {
		return fmt.Errorf("%s: %w", ref.Pos, err)
	}
	return err
}

// trainable starts a process of the trainable that may use the devices.
func (o *opener) trainable(ctx context.Context, devices []string) (plugin.Trainer, error) {
	ref, options, err := o.trainableRef()
	if err != nil {
		return nil, err
	}
	p, err := o.start(ctx, sdk.KindTrainable, ref, []string{"CUDA_VISIBLE_DEVICES=" + strings.Join(devices, ",")})
	if err != nil {
		return nil, err
	}
	t, err := opened(ctx, o, sdk.KindTrainable, ref, deadlines.Load, func(ctx context.Context) (plugin.Trainer, error) {
		return p.OpenTrainable(ctx, options)
	})
	if err != nil {
		_ = p.Close()
		return nil, placed(ref, err)
	}
	return t, nil
}

// commandPlugin is the bundled trainable that runs the user's program.
const commandPlugin = "command"

// trainableRef is the trainable plugin and its options; a command is the
// trainable of that name.
func (o *opener) trainableRef() (config.PluginRef, []byte, error) {
	t := o.experiment.Trainable
	if t.Plugin != nil {
		return *t.Plugin, t.Plugin.Options, nil
	}
	options, err := json.Marshal(o.commandOptions())
	return config.PluginRef{Name: commandPlugin, Options: options, Pos: o.experiment.PosOf("trainable")}, options, err
}

func (o *opener) commandOptions() map[string]any {
	e, t := o.experiment, o.experiment.Trainable
	var objectives []string
	for _, x := range e.Objectives {
		objectives = append(objectives, x.Metric)
	}
	metrics := map[string]string{}
	for name, re := range t.Metrics {
		metrics[name] = re.String()
	}
	return map[string]any{"command": t.Command, "env": orEmpty(t.Env), "inherit_env": t.InheritEnv, "environ": os.Environ(),
		"metrics": metrics, "objectives": objectives, "parameters": parametersOf(e),
		"cwd": t.CWD, "log": logOption(e.Log), "deadline": t.Deadline.Seconds(), "base_dir": o.baseDir,
		"workers": e.Placement != nil && e.Placement.Workers}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// logOption is where a program's output goes, as the command trainable takes it.
func logOption(l config.Log) any {
	if !l.On || l.Stdout == "" && l.Stderr == "" {
		return l.On
	}
	stdout, stderr := l.Files()
	return map[string]string{"stdout": stdout, "stderr": stderr}
}

// plugins are those of an experiment, opened.
type plugins struct {
	searcher  plugin.Searcher
	scheduler plugin.Scheduler
	trainer   plugin.Trainer
	// searched and scheduled are their snapshots; told is the last event that
	// the searcher was told when it was opened.
	searched, scheduled *snapshots.Snapshots
	told                uint64
}

func (o *opener) open(ctx context.Context, h *retelling, told, decided uint64) (p plugins, err error) {
	p.told = told
	p.searched = o.snapshots(sdk.KindSearcher, seeds.Searcher, o.experiment.Searcher)
	p.scheduled = o.snapshots(sdk.KindScheduler, seeds.Scheduler, o.experiment.Schedulers()...)
	var wait sync.WaitGroup
	var errs [3]error
	begin := wait.Go
	if o.alone {
		begin = func(f func()) { f() }
	}
	begin(func() { p.searcher, errs[0] = o.searcher(ctx, h, told, p.searched) })
	begin(func() { p.scheduler, errs[1] = o.scheduler(ctx, h, decided, p.scheduled) })
	if o.experiment.Trainable != nil {
		begin(func() { p.trainer, errs[2] = o.trainable(ctx, nil) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			p.close()
			return p, err
		}
	}
	return p, nil
}

func (p *plugins) traits() traits {
	t := traits{searcher: p.searcher.Traits(), scheduler: p.scheduler.Traits()}
	if p.trainer != nil {
		t.trainable = p.trainer.Traits()
	}
	return t
}

func (p *plugins) close() {
	var wait sync.WaitGroup
	if p.searcher != nil {
		wait.Go(func() { _ = p.searcher.Close() })
	}
	if p.scheduler != nil {
		wait.Go(func() { _ = p.scheduler.Close() })
	}
	if p.trainer != nil {
		wait.Go(func() { _ = p.trainer.Close() })
	}
	wait.Wait()
}
