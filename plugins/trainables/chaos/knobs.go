package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// knobs are what both options and parameters set; doc.go describes them.
type knobs struct {
	Iterations  uint64
	Sleep       float64
	StartDelay  float64
	Quality     float64
	Noise       float64
	ScoreMetric string
	LossMetric  string
	Metrics     map[string]float64
	Done        bool

	NaNAt       uint64
	InfAt       uint64
	MissingAt   uint64
	NeverReport bool

	CrashAt   uint64
	Crash     string
	ExitCode  int
	FailAt    uint64
	HangAt    uint64
	Stubborn  bool
	FailTimes uint32

	IgnoreTerm bool
	StopDelay  float64

	SaveDelay          float64
	SaveFails          bool
	RestoreFails       bool
	OwnCheckpointEvery uint64

	ForkChildren   uint32
	DetachChildren bool
	FloodOutput    uint32
	Garbage        uint32
	BigLog         uint32
	MemoryMB       uint32
}

// options are the knobs and what holds for the whole process.
type options struct {
	knobs
	Shared    bool
	Reusable  bool
	Saves     bool
	AnyParams bool
}

// The ways to crash.
const (
	crashExit           = "exit"
	crashKill           = "kill"
	crashPanic          = "panic"
	crashPanicElsewhere = "panic_elsewhere"
)

var crashes = []string{crashExit, crashKill, crashPanic, crashPanicElsewhere}

// maxSeconds keeps times within what a time.Duration holds.
const maxSeconds = 1e9

// times are in seconds.
var times = option.From(0).To(maxSeconds)

// declare declares the knobs.
func (k *knobs) declare() []option.Option {
	return []option.Option{
		option.Int("iterations", &k.Iterations, 10, option.Any(),
			"Results before it returns; 0 returns at once."),
		option.Float("sleep", &k.Sleep, 0, times,
			"Seconds before each result."),
		option.Float("start_delay", &k.StartDelay, 0, times,
			"Seconds before the first result, beside sleep."),
		option.Float("quality", &k.Quality, 0.5, option.Any(),
			"What score tends to; after i iterations it is quality*(1-exp(-i/5)), and loss is 1-score."),
		option.Float("noise", &k.Noise, 0, option.From(0),
			"Standard deviation of what is added to score, drawn from the trial's seed and the iteration."),
		option.Of("score_metric", &k.ScoreMetric, "score", option.NonEmpty(),
			"Name of the metric score; larger is better."),
		option.Of("loss_metric", &k.LossMetric, "loss", option.NonEmpty(),
			"Name of the metric loss; smaller is better."),
		option.Of("metrics", &k.Metrics, nil, option.Map(option.Number(option.Any())),
			"Further metrics, each a constant: name and number."),
		option.Bool("done", &k.Done, false,
			"Mark the last result as the last."),

		// Broken results.
		option.Int("nan_at", &k.NaNAt, 0, option.Any(),
			"Iteration whose score and loss are NaN; 0: none."),
		option.Int("inf_at", &k.InfAt, 0, option.Any(),
			"Iteration whose score is +Inf and whose loss is -Inf; 0: none."),
		option.Int("missing_metric_at", &k.MissingAt, 0, option.Any(),
			"Iteration whose result has no score; 0: none."),
		option.Bool("never_report", &k.NeverReport, false,
			"Report nothing at all."),

		// Ends that are none.
		option.Int("crash_at", &k.CrashAt, 0, option.Any(),
			"Iteration before whose result the process ends, as crash says; 0: never."),
		option.Enum("crash", &k.Crash, crashExit,
			"How crash_at ends it: exit with exit_code, kill by SIGKILL, panic of the trial, "+
				"panic_elsewhere in another goroutine.",
			crashes...),
		option.Int("exit_code", &k.ExitCode, 1, option.From(0).To(255),
			"Exit status of crash: exit."),
		option.Int("fail_at", &k.FailAt, 0, option.Any(),
			"Iteration before whose result it returns an error; 0: never."),
		option.Int("hang_at", &k.HangAt, 0, option.Any(),
			"Iteration before whose result it falls silent until it is told to stop; 0: never."),
		option.Bool("stubborn", &k.Stubborn, false,
			"hang_at does not listen when it is told to stop."),
		option.Int("fail_times", &k.FailTimes, 0, option.Any(),
			"crash_at, fail_at and hang_at happen in the first N attempts only; 0: in all. Without any of "+
				"them, fail_at is 1."),

		// Stopping.
		option.Bool("ignore_term", &k.IgnoreTerm, false,
			"Ignore SIGTERM, and when told to stop stay until killed."),
		option.Float("stop_delay", &k.StopDelay, 0, times,
			"Seconds of cleaning up after it was told to stop."),

		// Checkpoints.
		option.Float("save_delay", &k.SaveDelay, 0, times,
			"Seconds that a save takes."),
		option.Bool("save_fails", &k.SaveFails, false,
			"Saves return an error."),
		option.Bool("restore_fails", &k.RestoreFails, false,
			"Checkpoints cannot be loaded."),
		option.Int("own_checkpoint_every", &k.OwnCheckpointEvery, 0, option.Any(),
			"Results at multiples of it bring a checkpoint that nobody asked for; 0: none."),

		// Bad neighbours.
		option.Int("fork_children", &k.ForkChildren, 0, option.Any(),
			"Processes to start, which live ten minutes and hold on to stdout and stderr."),
		option.Bool("detach_children", &k.DetachChildren, false,
			"The children leave the session and process group."),
		option.Int("flood_output", &k.FloodOutput, 0, option.Any(),
			"Lines to print on stdout and on stderr before each result."),
		option.Int("garbage", &k.Garbage, 0, option.Any(),
			"Log lines of nonsense before each result."),
		option.Int("big_log", &k.BigLog, 0, option.Any(),
			"Bytes of one log line before each result."),
		option.Int("memory_mb", &k.MemoryMB, 0, option.Any(),
			"Memory to fill while it trains, in MiB."),
	}
}

// Options are the knobs and what is of the process. Parameters are the knobs alone.
var (
	declaredOptions = option.Declare(func(o *options) []option.Option {
		return append(o.declare(),
			option.Bool("shared", &o.Shared, false,
				"One process may run many trials at a time."),
			option.Bool("reusable", &o.Reusable, true,
				"One process may run trial after trial."),
			option.Bool("saves", &o.Saves, true,
				"It can save."),
			option.Bool("any_params", &o.AnyParams, false,
				"Parameters that are no knobs are not an error."),
		)
	})
	declaredParams = option.Declare((*knobs).declare).Called("parameter")
)

func parseOptions(object []byte) (options, error) {
	o, err := declaredOptions.Read(object)
	if err == nil {
		err = o.checkNames()
	}
	return o, err
}

// with reads a trial's parameters over the options.
func (o options) with(params []byte) (knobs, error) {
	if o.AnyParams {
		params = knownOf(params)
	}
	k, err := declaredParams.ReadOver(o.knobs, params)
	if err != nil {
		return k, err
	}
	k.Metrics = merged(o.Metrics, k.Metrics)
	if k.FailTimes > 0 && k.CrashAt == 0 && k.FailAt == 0 && k.HangAt == 0 {
		k.FailAt = 1
	}
	return k, k.checkNames()
}

// knownOf leaves out the parameters that are no knobs.
func knownOf(params []byte) []byte {
	var given map[string]json.RawMessage
	if json.Unmarshal(params, &given) != nil {
		return params // which is refused
	}
	known := declaredParams.Names()
	maps.DeleteFunc(given, func(name string, _ json.RawMessage) bool { return !slices.Contains(known, name) })
	params, _ = json.Marshal(given) // it was just decoded
	return params
}

// merged is what the options and the parameters set, by name.
func merged(of, over map[string]float64) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, of)
	maps.Copy(all, over)
	return all
}

// checkNames refuses two metrics of one name.
func (k knobs) checkNames() error {
	names := append(slices.Collect(maps.Keys(k.Metrics)), k.ScoreMetric, k.LossMetric)
	slices.Sort(names)
	for i, name := range names {
		if name == "" {
			return errors.New("a metric's name is empty")
		}
		if i > 0 && name == names[i-1] {
			return fmt.Errorf("two metrics have the name %q", name)
		}
	}
	return nil
}
