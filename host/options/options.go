// Package options has the settings of a host that are not in the experiment file, and the result of a
// run.
package options

import (
	"io"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// Options are settings that are not in the experiment file. The zero value runs an
// experiment as its file says, and prints nothing.
type Options struct {
	// File is the experiment file of host.Validate, simulations and ask and tell; host.Run has
	// it from its Experiment.
	File string
	// Sets override keys of the file, as KEY=VALUE.
	Sets          []string
	Storage, Name string
	// Resume is auto, local, remote, prompt, never, errored_only,
	// errored_restart or errored_resume; "" is auto.
	Resume string
	// Resources replace the resources found on this machine: cpu=16,gpu=2.
	Resources string
	// Share ignores claims of other experiments on the resources of this machine.
	Share bool
	Output
	// Plugins are the plugins of the program; nil: those that come with tunehost
	// (standard.Plugins). They run in separate processes if the program has called
	// their Main, otherwise in this process.
	Plugins *bundled.Registry
	// OnStart, if set, is called in a new goroutine once the experiment runs.
	OnStart func(Running)
	// AcceptPlugins resumes even if plugins have changed since the experiment
	// began.
	AcceptPlugins bool
	// Extend also accepts changes of the searcher, the scheduler and the space
	// when an experiment is resumed.
	Extend bool
	// Trust starts plugins that are not bundled, where no trial runs: to validate a
	// file or to simulate. Runs always start these plugins.
	Trust bool
	// TrustDir uses a directory even if other users can change files in it.
	TrustDir bool
	// Clock is the clock of the host; nil: the machine's.
	Clock clock.Clock
	// CallTimeout, if set, is the deadline of every call of a plugin, instead of those in the
	// file.
	CallTimeout time.Duration
	// Ask asks the user a question (Resume prompt).
	Ask func(question string) bool
	// Again selects ended trials that run again when an experiment is resumed.
	Again Again
	// Exit passes signals to the host; nil: the host gets none.
	Exit *Exit
	// Mode is set by the other ways to run experiments: ask and tell, simulations, tests.
	Mode Mode
}

// Output says what a host prints, and where.
type Output struct {
	// Verbose is 0 (silent) to 3 (every result).
	Verbose int
	// JSON prints an object for each event instead of the progress.
	JSON bool
	// Stdout and Stderr receive the progress and the warnings; nil: they are not printed.
	Stdout, Stderr io.Writer
	// Waits, if set, is told what the host waits for before it shows the experiment, such as "searcher tpe", and then
	// "". It is called from any goroutine.
	Waits func(what string)
}

// Await tells Waits.
func (o *Output) Await(what string) {
	if o.Waits != nil {
		o.Waits(what)
	}
}

// Again selects ended trials that run again (B-082).
type Again struct {
	// Errored selects all trials in ERROR; they start from the beginning.
	Errored bool
	// Unstarted selects trials that were ended before they started.
	Unstarted bool
	// Paused selects trials in PAUSED, for example those that a scheduler has forgotten; they continue.
	Paused bool
	// Trials are numbers or ids of trials in ERROR. They continue from their last
	// checkpoint; with Fresh they start again in a new directory.
	Trials []string
	Fresh  bool
	// Copies are numbers or ids of trials, whose parameters new trials train from the beginning; those of Clones
	// start from the newest checkpoints.
	Copies, Clones []string
}

// Mode says how a run differs from a live host, which is the zero value.
type Mode struct {
	// Manual: the caller trains the trials.
	Manual bool
	// Virtual: no trial is trained.
	Virtual bool
	// InProcess runs bundled plugins in this process.
	InProcess bool
	// Source is the experiment, unless it comes from Options.File.
	Source []byte
	// LockedAt is the experiment whose plugins must not have changed.
	LockedAt storage.Dir
	// SnapshotEvery replaces the usual number of events between snapshots of plugins.
	SnapshotEvery uint64
	// Leases replaces the timing of the ownership marks of remote storage.
	Leases mirror.Timing
}

// PluginsHere reports whether bundled plugins run in this process. A program that cannot serve one
// would run its experiments again when it is started as a plugin.
func (o *Options) PluginsHere() bool { return o.Mode.InProcess || !o.Plugins.Serves() }

// inNoStorage is the storage of experiments that are not stored.
const inNoStorage = "none"

// InMemory reports whether the experiment is not stored on disk.
func (o *Options) InMemory() bool { return o.Mode.Manual && o.Storage == inNoStorage }

// FileAgain is the experiment file as the user typed it, for a command that names it again; "": there is none, as for
// a text on standard input.
func (o *Options) FileAgain() string {
	if o.Mode.Source != nil {
		return ""
	}
	return o.File
}

// Args returns the flags that are needed to name the same experiment again.
func (o *Options) Args() (list []string) {
	for _, set := range o.Sets {
		list = append(list, "--set", set)
	}
	for _, flag := range [][2]string{{"--storage", o.Storage}, {"--name", o.Name}, {"--resources", o.Resources}} {
		if flag[1] != "" {
			list = append(list, flag[0], flag[1])
		}
	}
	return list
}

// Ended is the result of a run.
type Ended struct {
	Outcome core.Outcome
	Reason  string
	// Errored is the number of trials in ERROR.
	Errored int
	// NonFinite says of an objective that all its results are NaN or infinite, else "".
	NonFinite string
	Dir       string
}
