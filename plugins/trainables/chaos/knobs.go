package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// knobs are the settings of both options and parameters; doc.go describes them.
type knobs struct {
	course
	badResults
	failing
	stopping
	saving
	burden
}

// course says how a trial goes if nothing is wrong.
type course struct {
	Iterations  uint64
	Sleep       float64
	StartDelay  float64
	Quality     float64
	Noise       float64
	ScoreMetric string
	LossMetric  string
	Metrics     map[string]float64
	Done        bool
}

// badResults are results that are invalid.
type badResults struct {
	NaNAt       uint64
	InfAt       uint64
	MissingAt   uint64
	NeverReport bool
}

// failing says how and when a trial fails.
type failing struct {
	CrashAt   uint64
	Crash     string
	ExitCode  int
	FailAt    uint64
	HangAt    uint64
	Stubborn  bool
	FailTimes uint32
}

// stopping says how a trial takes a stop.
type stopping struct {
	IgnoreTerm bool
	StopDelay  float64
}

// saving says what goes wrong with checkpoints.
type saving struct {
	SaveDelay          float64
	SaveFails          bool
	RestoreFails       bool
	OwnCheckpointEvery uint64
}

// burden says how the trial loads the machine.
type burden struct {
	ForkChildren   uint32
	DetachChildren bool
	FloodOutput    uint32
	Garbage        uint32
	BigLog         uint32
	MemoryMB       uint32
}

// options are the knobs and the settings of the whole process.
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

// maxSeconds limits times to the range of time.Duration.
const maxSeconds = 1e9

// times are in seconds.
var times = option.From(0).To(maxSeconds)

// declare declares the knobs.
func (k *knobs) declare() []option.Option {
	return slices.Concat(k.course.declare(), k.badResults.declare(), k.failing.declare(),
		k.stopping.declare(), k.saving.declare(), k.burden.declare())
}

func (k *course) declare() []option.Option {
	return []option.Option{
		option.Int("iterations", &k.Iterations, 10, option.Any(),
			"The number of results; 0 returns at once."),
		option.Float("sleep", &k.Sleep, 0, times,
			"Seconds before each result."),
		option.Float("start_delay", &k.StartDelay, 0, times,
			"Additional seconds before the first result."),
		option.Float("quality", &k.Quality, 0.5, option.Any(),
			"The limit of score; after i iterations score is quality*(1-exp(-i/5)), and loss is 1-score."),
		option.Float("noise", &k.Noise, 0, option.From(0),
			"The standard deviation of the noise of score, drawn from the trial's seed and the iteration."),
		option.Of("score_metric", &k.ScoreMetric, "score", option.NonEmpty(),
			"The name of the metric score; larger is better."),
		option.Of("loss_metric", &k.LossMetric, "loss", option.NonEmpty(),
			"The name of the metric loss; smaller is better."),
		option.Of("metrics", &k.Metrics, nil, option.Map(option.Number(option.Any())),
			"Additional constant metrics: names and numbers."),
		option.Bool("done", &k.Done, false,
			"Mark the last result as done."),
	}
}

func (k *badResults) declare() []option.Option {
	return []option.Option{
		option.Int("nan_at", &k.NaNAt, 0, option.Any(),
			"The iteration whose score and loss are NaN; 0: none."),
		option.Int("inf_at", &k.InfAt, 0, option.Any(),
			"The iteration whose score is +Inf and whose loss is -Inf; 0: none."),
		option.Int("missing_metric_at", &k.MissingAt, 0, option.Any(),
			"The iteration whose result has no score; 0: none."),
		option.Bool("never_report", &k.NeverReport, false,
			"Report no results."),
	}
}

func (k *failing) declare() []option.Option {
	return []option.Option{
		option.Int("crash_at", &k.CrashAt, 0, option.Any(),
			"The iteration before whose result the process crashes; 0: never."),
		option.Enum("crash", &k.Crash, crashExit,
			"How crash_at ends the process: exit with exit_code, kill by SIGKILL, panic of the trial, "+
				"panic_elsewhere in another goroutine.",
			crashes...),
		option.Int("exit_code", &k.ExitCode, 1, option.From(0).To(255),
			"The exit status of crash: exit."),
		option.Int("fail_at", &k.FailAt, 0, option.Any(),
			"The iteration before whose result the trial returns an error; 0: never."),
		option.Int("hang_at", &k.HangAt, 0, option.Any(),
			"The iteration before whose result the trial hangs until it is told to stop; 0: never."),
		option.Bool("stubborn", &k.Stubborn, false,
			"hang_at ignores stops."),
		option.Int("fail_times", &k.FailTimes, 0, option.Any(),
			"crash_at, fail_at and hang_at apply to the first N attempts only; 0: to all. Without any of "+
				"them, fail_at is 1."),
	}
}

func (k *stopping) declare() []option.Option {
	return []option.Option{
		option.Bool("ignore_term", &k.IgnoreTerm, false,
			"Ignore SIGTERM and stops until killed."),
		option.Float("stop_delay", &k.StopDelay, 0, times,
			"Seconds of clean-up after a stop."),
	}
}

func (k *saving) declare() []option.Option {
	return []option.Option{
		option.Float("save_delay", &k.SaveDelay, 0, times,
			"The duration of a save in seconds."),
		option.Bool("save_fails", &k.SaveFails, false,
			"Saves return an error."),
		option.Bool("restore_fails", &k.RestoreFails, false,
			"Checkpoints cannot be loaded."),
		option.Int("own_checkpoint_every", &k.OwnCheckpointEvery, 0, option.Any(),
			"Results at multiples of it have a checkpoint that the host did not request; 0: none."),
	}
}

func (k *burden) declare() []option.Option {
	return []option.Option{
		option.Int("fork_children", &k.ForkChildren, 0, option.Any(),
			"The number of child processes to start, which live ten minutes and keep stdout and stderr open."),
		option.Bool("detach_children", &k.DetachChildren, false,
			"The children leave the session and the process group."),
		option.Int("flood_output", &k.FloodOutput, 0, option.Any(),
			"The number of lines to print to stdout and to stderr before each result."),
		option.Int("garbage", &k.Garbage, 0, option.Any(),
			"The number of invalid log lines before each result."),
		option.Int("big_log", &k.BigLog, 0, option.Any(),
			"The size in bytes of a log line before each result."),
		option.Int("memory_mb", &k.MemoryMB, 0, option.Any(),
			"The memory to fill while it trains, in MiB."),
	}
}

// Options are the knobs and the settings of the process. Parameters are only the knobs.
var (
	declaredOptions = option.Declare(func(o *options) []option.Option {
		return append(o.declare(),
			option.Bool("shared", &o.Shared, false,
				"One process may run many trials at a time."),
			option.Bool("reusable", &o.Reusable, true,
				"One process may run one trial after another."),
			option.Bool("saves", &o.Saves, true,
				"It can save checkpoints."),
			option.Bool("any_params", &o.AnyParams, false,
				"Unknown parameters are not an error."),
		)
	})
	declaredParams = option.Declare((*knobs).declare).Called("parameter")
	paramNames     = sync.OnceValue(declaredParams.Names)
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
	k, err := o.knobs, error(nil)
	if params != nil {
		k, err = declaredParams.ReadOver(o.knobs, params)
	}
	if err != nil {
		return k, err
	}
	k.Metrics = merged(o.Metrics, k.Metrics)
	if k.FailTimes > 0 && k.CrashAt == 0 && k.FailAt == 0 && k.HangAt == 0 {
		k.FailAt = 1
	}
	return k, k.checkNames()
}

// knownOf removes unknown parameters. It returns nil if none is left.
func knownOf(params []byte) []byte {
	var given map[string]json.RawMessage
	if json.Unmarshal(params, &given) != nil {
		return params // it is refused later
	}
	known := paramNames()
	maps.DeleteFunc(given, func(name string, _ json.RawMessage) bool { return !slices.Contains(known, name) })
	if len(given) == 0 {
		return nil
	}
	params, _ = json.Marshal(given) // it was just decoded
	return params
}

// merged returns the values of the options and the parameters, by name.
func merged(of, over map[string]float64) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, of)
	maps.Copy(all, over)
	return all
}

// checkNames refuses two metrics with the same name.
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
