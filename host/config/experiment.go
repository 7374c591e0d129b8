package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/expr"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Experiment is a checked experiment file with its defaults filled in.
type Experiment struct {
	// Name is the name given, or the file's base name without its ending.
	Name string
	// FormerName is the name that earlier versions gave it by default, where that is another
	// one; "" where the file has a name.
	FormerName string
	// Seed is nil where the host draws one.
	Seed *uint64
	// Objectives are one or more; Single says that the file has `objective`.
	Objectives []Objective
	Single     bool

	// Trainable is nil only with [WithoutTrainable].
	Trainable *Trainable

	// Space is what searchers see: the parameters that are searched, grid
	// axes among them, with the conditions and constraints that could be
	// lowered.
	Space *space.Space
	// Constants are the plain values that exist in every trial, in order.
	Constants []Constant
	// Derived are what the host adds to each trial: computed values, and
	// constants under a condition, in an order in which each comes after
	// those it needs.
	Derived []Derived
	// Constraints are all of them, also those in Space.
	Constraints []Constraint
	// Points run first.
	Points []Point

	Searcher, Scheduler, Executor PluginRef
	Reporters                     []PluginRef
	// Base is the scheduler that Scheduler is put over; nil: none.
	Base *PluginRef

	// Trials is the number of samples; -1: without bound.
	Trials int64
	// Concurrency is how many trials run at a time; 0: as resources allow.
	Concurrency int64
	// Resources are what each trial needs, as exact decimal text with an
	// optional unit (4GiB), by name. Nil where Placement is given.
	Resources map[string]string
	Placement *Placement
	// Requested is where the file asks for resources, by either key; nil where
	// Resources is the default.
	Requested *Pos

	Stop       Stop
	Budget     Budget
	Checkpoint Checkpoint
	// Restore is a checkpoint directory, or "".
	Restore   string
	LearnFrom []string
	Failures  Failures
	StopGrace time.Duration
	// Reuse is "auto", "true" or "false".
	Reuse            string
	Repeat           int64
	StrictMetrics    bool
	WaitForResources bool
	// Computed are amounts of Resources, or of bundles, that depend on parameters.
	Computed []ComputedAmount
	// Overcommit: one trial at a time may be started beyond what is free.
	Overcommit bool

	// Storage is a directory or a URL.
	Storage string
	Log     Log
	Export  []string
	// TrialName is a template that was checked against the parameters, or "".
	TrialName string
	Plugins   []string
	Sandbox   Sandbox
	Grants    map[string]Grant
	// Deadlines are those of plugins' calls that the file sets.
	Deadlines deadlines.Limits

	// Warnings are what is right but surely not meant.
	Warnings []*Error
	// Source is the file as it was read, without overrides; Overrides are
	// those that were applied.
	Source    []byte
	Overrides []string
	// File is the name of the file, for messages.
	File string

	tree       *node
	conditions [][]*expr.Program  // of each parameter of Space; all must hold
	scope      *expr.Scope        // every name, for points and resolution
	was        map[string]float64 // coordinates that trials had before a parameter existed
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
	// Command is the program and its arguments, with {NAME} not yet replaced
	// ([Expand]); empty for a plugin.
	Command []string
	// CWD is where it is started, relative to the file; "": in the trial's directory.
	CWD        string
	Env        map[string]string
	InheritEnv bool
	// Metrics find metrics in lines of output: the first group, or the one
	// named "value".
	Metrics map[string]*regexp.Regexp
	// Deadline is the silence that counts as a hang; 0: none.
	Deadline time.Duration
	// Plugin is nil for a command.
	Plugin *PluginRef
}

// Constant is a plain value of the space.
type Constant struct {
	// Name is the full name, parts joined with "/".
	Name string
	// Value is JSON.
	Value []byte
}

// Derived is a value that the host adds to each trial.
type Derived struct {
	Name string
	// Program computes it; nil: it is Value.
	Program *expr.Program
	Value   []byte
	// When are conditions that must all hold for it to exist.
	When []*expr.Program
	Pos  Pos
}

// Constraint is an expression over parameters that must hold.
type Constraint struct {
	Program *expr.Program
	// Opaque: it is not in Space.Constraints; only the host can check it.
	Opaque bool
	Pos    Pos
}

// Point is one of the user's own points.
type Point struct {
	// Raw is the point as JSON, as it was written.
	Raw []byte
	// Given has its coordinates in Space; NaN where nothing was given.
	Given space.Point
	Pos   Pos
}

// Placement is a group of bundles that are granted together.
type Placement struct {
	Bundles []map[string]string
	// Strategy is pack, spread, strict_pack or strict_spread.
	Strategy string
	// Workers: the command is started once for each bundle.
	Workers bool
}

// Stop says when a trial ends; zero fields say nothing.
type Stop struct {
	Metrics   []MetricRule
	When      *expr.Program
	Iteration int64
	Time      time.Duration
	Plateau   *Plateau
	// Plugin is a scheduler that does nothing but stop trials, beside the
	// experiment's; nil: none.
	Plugin *PluginRef
}

// MetricRule ends a trial at a value of a metric. One of the pointers is set, or
// both Above and Below.
type MetricRule struct {
	Metric string
	// Reach is met at this value or beyond it: downward where Mode is "min".
	Reach *float64
	Mode  string
	// Above and Below are strict.
	Above, Below *float64
}

// Plateau holds when the standard deviation of values is small for long enough.
type Plateau struct {
	Metric, Mode          string
	Std                   float64
	Last, Grace, Patience int64
}

// Budget says when the experiment ends; zero fields say nothing.
type Budget struct {
	Time         time.Duration
	TrialsFailed int64
	Plateau      *Plateau
	When         *expr.Program
}

// Checkpoint says when checkpoints are made and which are kept.
type Checkpoint struct {
	// Every is in iterations; 0: none but those asked for.
	Every int64
	AtEnd bool
	// Keep is a number; 0: all.
	Keep        int64
	Score, Mode string
	// Disk is in bytes; 0: no limit.
	Disk int64
	// PausesInMemory: pauses need not survive the host.
	PausesInMemory bool
}

// Failures says what becomes of failed trials.
type Failures struct {
	// Retries is -1 for no end.
	Retries int64
	// Lost is how often a trial may lose its node before that is a failure.
	Lost int64
	// FailFast stops all others at the first failure; Raise leaves at once.
	FailFast, Raise bool
}

// Log says where the output of trials goes.
type Log struct {
	// On: it is written. Stdout and Stderr are file names, or "" for the
	// usual ones.
	On             bool
	Stdout, Stderr string
}

// Files are the names of the files; nothing where there are none.
func (l Log) Files() (stdout, stderr string) {
	if !l.On {
		return "", ""
	}
	return cmp.Or(l.Stdout, "stdout"), cmp.Or(l.Stderr, "stderr")
}

// Sandbox has the limits of plugins in the sandbox.
type Sandbox struct {
	Memory      int64 // bytes
	CallTimeout time.Duration
}

// Grant is what one plugin may have beyond the sandbox.
type Grant struct {
	Read, Write, Env []string
	Clock            bool
}

// Variables of `stop.when`, beside metrics and parameters, and of `budget.when`.
var (
	// StopVars: time is the trial's running time in seconds; the others are the names
	// that results have for the host's own fields (B-016).
	StopVars = map[string]expr.Type{"iteration": expr.Int, "time": expr.Float,
		"training_iteration": expr.Int, "time_total_s": expr.Float,
		"iterations_since_restore": expr.Int, "time_since_restore": expr.Float}
	// BudgetVars: time is the experiment's running time in seconds; trials
	// are those that ended; best is the best value of the first objective.
	BudgetVars = map[string]expr.Type{"time": expr.Float, "trials": expr.Int, "trials_failed": expr.Int, "results": expr.Int, "best": expr.Float}
	// TrialVars are those of `trials --where`.
	TrialVars = map[string]expr.Type{"trial": expr.Text, "number": expr.Int, "state": expr.Text, "iteration": expr.Int, "results": expr.Int,
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

// Has says whether the file, or an override, has a key, given as names joined
// with dots.
func (e *Experiment) Has(key string) bool {
	_, ok := e.find(key)
	return ok
}

// Named says whether the file or the command line has a name.
func (e *Experiment) Named() bool { return e.tree.has("name") }

// PosOf is where a key is, or the file where it has none.
func (e *Experiment) PosOf(key string) Pos {
	if pos, ok := e.find(key); ok {
		return pos
	}
	return Pos{File: e.File}
}

func (e *Experiment) find(key string) (pos Pos, ok bool) {
	at := e.tree
	for _, name := range strings.Split(key, ".") {
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

// Schedulers are all that decide on trials, the innermost first: the base, the scheduler,
// and what may only stop.
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
