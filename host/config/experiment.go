package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Experiment is a checked experiment file with its defaults filled in.
type Experiment struct {
	Identity
	// Objectives has at least one element; Single says that the file uses `objective`.
	Objectives []Objective
	Single     bool
	// Trainable is nil only with [WithoutTrainable].
	Trainable *Trainable
	SearchSpace
	UsedPlugins
	Leasing
	Running
	Needs
	Stop       Stop
	Budget     Budget
	Failures   Failures
	Checkpoint Checkpoint
	// Restore is a checkpoint directory, or "".
	Restore   string
	LearnFrom []string
	Output
	Permissions
	Origin
}

// Identity says which experiment it is.
type Identity struct {
	// Name is the given name, or the file's base name without its ending.
	Name string
	// FormerName is the default name that earlier versions chose, if it differs; "" where the file has a
	// name.
	FormerName string
	// Seed is nil where the host draws the seed.
	Seed *uint64
}

// SearchSpace says which parameters trials have.
type SearchSpace struct {
	// Space is what searchers see: the searched parameters with grid axes, and the conditions and
	// constraints that could be lowered.
	Space *space.Space
	// Constants are the plain values that every trial has, in order.
	Constants []Constant
	// Derived are the values that the host adds to each trial: computed values and conditional constants.
	// Each comes after those it needs.
	Derived []Derived
	// Constraints holds all constraints, also those in Space.
	Constraints []Constraint
	// Points run before the searcher's suggestions.
	Points []Point
	// PointsAreOfGrid: a point takes the place of its own combination of the grid. Records from before that have its
	// last combinations left out.
	PointsAreOfGrid bool
	// PlansWhatCanBe: the trials of a grid are the combinations that its conditions and constraints allow, each once,
	// and points beyond the number of trials are planned. Records from before plan every combination, and no such
	// points.
	PlansWhatCanBe bool
	// PlansWithinLimits: a grid whose possible combinations cannot be told within limits is a mistake. Records from
	// before plan all combinations of such a grid.
	PlansWithinLimits bool
	// DrawsAgain: constraints depend on the random numbers of computed parameters, and each try of a point has new
	// ones, see [Experiment.SeedOf]. In records from before, all tries have the same.
	DrawsAgain bool
	// KeepsDraws: computed parameters are random, and a trial to which a scheduler gives other parameters has those of
	// the trial from which it continues, as far as they do not depend on what changed. In records from before, and
	// where nothing is random, it has those of the experiment's seed.
	KeepsDraws bool

	conditions [][]*expr.Program // of each parameter of Space; all must hold
	whenAt     map[*expr.Program]Pos
	scope      *expr.Scope        // every name, for points and resolution
	was        map[string]float64 // coordinates of trials from before a parameter was added
}

// UsedPlugins are the plugins that the file names, except the trainable.
type UsedPlugins struct {
	Searcher, Scheduler, Executor PluginRef
	Reporters                     []PluginRef
	// Base is the scheduler below Scheduler; nil: none.
	Base *PluginRef
}

// Running says how many trials run, and how they are started and ended.
type Running struct {
	// Trials is the number of samples; -1: no limit.
	Trials int64
	// Concurrency is how many trials run at a time; 0: as many as resources allow.
	Concurrency   int64
	Repeat        int64
	StopGrace     time.Duration
	StrictMetrics bool
	// Reuse is "auto", "true" or "false".
	Reuse string
}

// Needs are the resources that trials need.
type Needs struct {
	// Resources is what each trial needs: exact decimal texts with an optional unit (4GiB), by name. It is
	// nil with Placement.
	Resources map[string]string
	Placement *Placement
	// Computed are the amounts, of Resources or of bundles, that depend on parameters.
	Computed []ComputedAmount
	// Requested is the place where the file asks for resources, by either key; nil where Resources is the
	// default.
	Requested        *Pos
	WaitForResources bool
	// Overcommit lets one trial start beyond the free resources.
	Overcommit bool
}

// Output says where results are stored, and which.
type Output struct {
	// Storage is a directory or a URL.
	Storage string
	Log     Log
	Export  []string
	// TrialName is a template that was checked against the parameters, or "".
	TrialName string
}

// Permissions say where plugins are found, and what they may do.
type Permissions struct {
	Plugins []string
	Sandbox Sandbox
	Grants  map[string]Grant
	// Deadlines holds the time limits of plugin calls that the file sets.
	Deadlines deadlines.Limits
}

// Origin is what the experiment was read from.
type Origin struct {
	// File is the name of the file, for messages.
	File string
	// Source is the file as it was read; Overrides are the settings applied over it.
	Source    []byte
	Overrides []string
	// Warnings are about settings that are valid but probably not intended.
	Warnings []*Error
	// Place says whether the experiment's directory has moved since it began.
	Place Place

	tree    *node
	faults  bool // an evaluation that fails is an error
	defined bool // a constraint that cannot be calculated is false
	reading int  // the version of the reading rules
}

// Objective is a metric to optimise.
type Objective struct {
	// Metric is its full name, parts joined with "/".
	Metric string
	// Mode is "min" or "max".
	Mode string
}

// Trainable is a program or a plugin.
type Trainable struct {
	// Command is the program and its arguments, with {NAME} not yet replaced (see [Expand]); it is empty
	// for a plugin.
	Command []string
	// CWD is the directory where it starts, relative to the file; "" is the trial's directory.
	CWD        string
	Env        map[string]string
	InheritEnv bool
	// Metrics find metrics in lines of output: the value is the first group, or the one named "value".
	Metrics map[string]*regexp.Regexp
	// Warm says that the Python interpreter of the command is forked for each trial.
	Warm bool
	// Deadline is how long a trial may be silent before it counts as hung; 0: no limit.
	Deadline time.Duration
	// Plugin is nil for a command.
	Plugin *PluginRef
}

// Constant is a fixed value of the space.
type Constant struct {
	// Name is the full name, parts joined with "/".
	Name string
	// Value is JSON.
	Value []byte
}

// Derived is a value that the host adds to each trial.
type Derived struct {
	Name string
	// Program computes the value; if it is nil, the value is Value.
	Program *expr.Program
	Value   []byte
	// When holds the conditions under which the value exists; all must hold.
	When []*expr.Program
	Pos  Pos
}

// Constraint is an expression over parameters that must hold.
type Constraint struct {
	Program *expr.Program
	// Opaque marks a constraint that is not in Space.Constraints; only the host can check it.
	Opaque bool
	Pos    Pos
}

// Point is a point that the user gave.
type Point struct {
	// Raw is the point as JSON, as written.
	Raw []byte
	// Given has its coordinates in Space; NaN where no value was given.
	Given space.Point
	Pos   Pos
}

// Placement is a group of bundles that are granted together.
type Placement struct {
	Bundles []map[string]string
	// Strategy is pack, spread, strict_pack or strict_spread.
	Strategy string
	// Workers starts the command once for each bundle.
	Workers bool
}

// Stop says when a trial ends; zero fields set no limit.
type Stop struct {
	Metrics   []MetricRule
	When      *expr.Program
	Iteration int64
	Time      time.Duration
	Plateau   *Plateau
	// Plugin is an additional scheduler that only stops trials; nil: none.
	Plugin *PluginRef
}

// MetricRule ends a trial at a value of a metric. Either one of the pointers is set, or both Above and
// Below.
type MetricRule struct {
	Metric string
	// Reach holds at this value and beyond; "beyond" is downward where Mode is "min".
	Reach *float64
	Mode  string
	// Above and Below are strict bounds.
	Above, Below *float64
}

// Plateau holds when the standard deviation of the values stays small long enough.
type Plateau struct {
	Metric, Mode          string
	Std                   float64
	Last, Grace, Patience int64
}

// Budget says when the experiment ends; zero fields set no limit.
type Budget struct {
	Time         time.Duration
	TrialsFailed int64
	Plateau      *Plateau
	When         *expr.Program
}

// Checkpoint says when checkpoints are made and which are kept.
type Checkpoint struct {
	// Every is in iterations; 0: only on request.
	Every int64
	AtEnd bool
	// Keep is how many are kept; 0: all.
	Keep        int64
	Score, Mode string
	// Disk is in bytes; 0: no limit.
	Disk int64
	// PausesInMemory keeps paused trials in memory; they do not survive the host.
	PausesInMemory bool
}

// Failures says what happens to failed trials.
type Failures struct {
	// Retries is -1 for no limit.
	Retries int64
	// Lost is how often a trial may lose its node before that counts as a failure.
	Lost int64
	// FailFast stops all other trials at the first failure; Raise exits at once.
	FailFast, Raise bool
}

// Log says where the output of trials goes.
type Log struct {
	// On turns logs on. Stdout and Stderr are file names, or "" for the default names.
	On             bool
	Stdout, Stderr string
}

// Files returns the names of the log files; both are empty without logs.
func (l Log) Files() (stdout, stderr string) {
	if !l.On {
		return "", ""
	}
	return cmp.Or(l.Stdout, "stdout"), cmp.Or(l.Stderr, "stderr")
}

// Sandbox holds the limits of sandboxed plugins.
type Sandbox struct {
	Memory      int64 // bytes
	CallTimeout time.Duration
}

// Grant is what one plugin may use beyond the sandbox.
type Grant struct {
	Read, Write, Env []string
	Clock            bool
}

// Variables of `stop.when`, beside metrics and parameters, and of `budget.when`.
var (
	// StopVars are named as the host's own fields of results (B-016). time is the trial's running time in
	// seconds.
	StopVars = map[string]expr.Type{"iteration": expr.Int, "time": expr.Float,
		"training_iteration": expr.Int, "time_total_s": expr.Float,
		"iterations_since_restore": expr.Int, "time_since_restore": expr.Float}
	// budgetVars: time is the experiment's running time in seconds, trials is the number of trials that
	// ended, best is the best value of the first objective.
	budgetVars = map[string]expr.Type{"time": expr.Float, "trials": expr.Int, "trials_failed": expr.Int,
		"results": expr.Int, "best": expr.Float}
	// TrialVars are the variables of `trials --where`.
	TrialVars = map[string]expr.Type{"trial": expr.Text, "number": expr.Int, "state": expr.Text, "iteration": expr.Int,
		"results":  expr.Int,
		"failures": expr.Int, "error": expr.Text, "reason": expr.Text, "cause": expr.Text}
)

// Where compiles the expression of `trials --where` over parameters, the last
// metrics and [TrialVars].
func (e *Experiment) Where(src string) (*expr.Program, error) {
	return expr.Compile(src, e.metricScope(TrialVars), expr.Bool)
}

func (e *Experiment) metricScope(vars map[string]expr.Type) *expr.Scope {
	s := *e.scope
	s.Vars, s.Metrics = vars, true
	return &s
}

// Has reports whether the file, or an override, has a key: names joined with dots.
func (e *Experiment) Has(key string) bool {
	_, ok := e.find(key)
	return ok
}

// Named reports whether the file or the command line sets a name.
func (e *Experiment) Named() bool { return e.tree.has("name") }

// PosOf returns the place of a key, or the file where the key is missing.
func (e *Experiment) PosOf(key string) Pos {
	if pos, ok := e.find(key); ok {
		return pos
	}
	return Pos{File: e.File}
}

func (e *Experiment) find(key string) (pos Pos, ok bool) {
	at := e.tree
	for name := range strings.SplitSeq(key, ".") {
		if at == nil || at.kind != mapKind {
			return pos, false
		}
		i := slices.IndexFunc(at.keys, func(k entry) bool { return k.name == name })
		if i < 0 {
			return pos, false
		}
		pos, at = at.keys[i].pos, at.get(name)
	}
	return pos, true
}

// Leasing has the host's own keys of an executor other than local.
type Leasing struct {
	// Idle is how long a lease that no trial uses is kept.
	Idle time.Duration
	// HostGrace is how long agents and leases wait for a host that has died. HostAddress and HostPort are
	// where agents reach the host, if the file says so.
	HostGrace   time.Duration
	HostAddress string
	HostPort    int
	// Upload are files and folders in the folder of the experiment file that nodes need.
	Upload []string
}

// LocalExecutor is the executor that is this machine, and no plugin.
const LocalExecutor = "local"

// defaultIdle is how long a lease that no trial uses is kept, where the file does not say.
const defaultIdle = 30 * time.Second

// defaultHostGrace is how long agents and leases wait for a host that has died, where the file does not
// say. Shorter than minHostGrace is no time in which a host can be missed.
const (
	defaultHostGrace = 10 * time.Minute
	minHostGrace     = 5 * time.Second
)

// Leased reports whether trials run on leases of an executor plugin.
func (e *Experiment) Leased() bool { return e.Executor.Name != LocalExecutor }

// Schedulers returns all schedulers, the innermost first: the base, the scheduler, and the one that
// only stops.
func (e *Experiment) Schedulers() (list []PluginRef) {
	if e.Base != nil {
		list = append(list, *e.Base)
	}
	list = append(list, e.Scheduler)
	if e.Stop.Plugin != nil {
		list = append(list, *e.Stop.Plugin)
	}
	return list
}
