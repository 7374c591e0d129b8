package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// knobs are what both options and parameters set; doc.go describes them.
type knobs struct {
	Iterations  uint64             `json:"iterations"`
	Sleep       float64            `json:"sleep"`
	StartDelay  float64            `json:"start_delay"`
	Quality     float64            `json:"quality"`
	Noise       float64            `json:"noise"`
	ScoreMetric string             `json:"score_metric"`
	LossMetric  string             `json:"loss_metric"`
	Metrics     map[string]float64 `json:"metrics"`
	Done        bool               `json:"done"`

	NaNAt       uint64 `json:"nan_at"`
	InfAt       uint64 `json:"inf_at"`
	MissingAt   uint64 `json:"missing_metric_at"`
	NeverReport bool   `json:"never_report"`

	CrashAt   uint64 `json:"crash_at"`
	Crash     string `json:"crash"`
	ExitCode  int    `json:"exit_code"`
	FailAt    uint64 `json:"fail_at"`
	HangAt    uint64 `json:"hang_at"`
	Stubborn  bool   `json:"stubborn"`
	FailTimes uint32 `json:"fail_times"`

	IgnoreTerm bool    `json:"ignore_term"`
	StopDelay  float64 `json:"stop_delay"`

	SaveDelay          float64 `json:"save_delay"`
	SaveFails          bool    `json:"save_fails"`
	RestoreFails       bool    `json:"restore_fails"`
	OwnCheckpointEvery uint64  `json:"own_checkpoint_every"`

	ForkChildren   uint32 `json:"fork_children"`
	DetachChildren bool   `json:"detach_children"`
	FloodOutput    uint32 `json:"flood_output"`
	Garbage        uint32 `json:"garbage"`
	BigLog         uint32 `json:"big_log"`
	MemoryMB       uint32 `json:"memory_mb"`
}

// options are the knobs and what holds for the whole process.
type options struct {
	knobs
	Shared    bool `json:"shared"`
	Reusable  bool `json:"reusable"`
	Saves     bool `json:"saves"`
	AnyParams bool `json:"any_params"`
}

// The ways to crash.
const (
	crashExit           = "exit"
	crashKill           = "kill"
	crashPanic          = "panic"
	crashPanicElsewhere = "panic_elsewhere"
)

var crashes = []string{crashExit, crashKill, crashPanic, crashPanicElsewhere}

func defaults() options {
	return options{Reusable: true, Saves: true, knobs: knobs{
		Iterations: 10, Quality: 0.5, ScoreMetric: "score", LossMetric: "loss",
		Metrics: map[string]float64{}, Crash: crashExit, ExitCode: 1,
	}}
}

// parseOptions reads the options over the defaults.
func parseOptions(object []byte) (options, error) {
	o := defaults()
	if err := refuseUnknown(object, "option", knownOptions()); err != nil {
		return o, err
	}
	if err := decode(object, "option", &o); err != nil {
		return o, err
	}
	return o, o.check()
}

// with reads a trial's parameters over the options.
func (o options) with(params []byte) (knobs, error) {
	k := o.knobs
	if !o.AnyParams {
		if err := refuseUnknown(params, "parameter", knownParams()); err != nil {
			return k, err
		}
	}
	k.Metrics = maps.Clone(k.Metrics) // decoding adds to a map
	if err := decode(params, "parameter", &k); err != nil {
		return k, err
	}
	if k.FailTimes > 0 && k.CrashAt == 0 && k.FailAt == 0 && k.HangAt == 0 {
		k.FailAt = 1
	}
	return k, k.check()
}

// The names of all options and parameters.
var (
	knownOptions = sync.OnceValue(func() map[string]json.RawMessage { return namesOf(defaults()) })
	knownParams  = sync.OnceValue(func() map[string]json.RawMessage { return namesOf(defaults().knobs) })
)

func namesOf(v any) map[string]json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of ours
	}
	names, err := fields(encoded)
	if err != nil {
		panic(err)
	}
	return names
}

// refuseUnknown names the keys of object that are not known.
func refuseUnknown(object []byte, what string, known map[string]json.RawMessage) error {
	given, err := fields(object)
	if err != nil {
		return fmt.Errorf("chaos: the %ss are no JSON object: %w", what, err)
	}
	maps.DeleteFunc(given, func(name string, _ json.RawMessage) bool { return known[name] != nil })
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("chaos: unknown %ss %q; known are %s",
		what, slices.Sorted(maps.Keys(given)), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

func fields(object []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(object, &m)
	return m, err
}

// decode lays object over into, which keeps what object does not name.
func decode(object []byte, what string, into any) error {
	err := json.Unmarshal(object, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return fmt.Errorf("chaos: %s %q is a %s: want %s", what, name, wrong.Value, wrong.Type)
	}
	if err != nil {
		return fmt.Errorf("chaos: %ss: %w", what, err)
	}
	return nil
}

// maxSeconds keeps times within what a time.Duration holds.
const maxSeconds = 1e9

// check refuses values that their types allow.
func (k knobs) check() error {
	for name, s := range map[string]float64{
		"sleep": k.Sleep, "start_delay": k.StartDelay, "save_delay": k.SaveDelay, "stop_delay": k.StopDelay,
	} {
		if !(s >= 0 && s <= maxSeconds) {
			return fmt.Errorf("chaos: %s is %v: want seconds from 0 to %v", name, s, maxSeconds)
		}
	}
	switch {
	case math.IsNaN(k.Noise) || k.Noise < 0:
		return fmt.Errorf("chaos: noise is %v: want a standard deviation of at least 0", k.Noise)
	case !slices.Contains(crashes, k.Crash):
		return fmt.Errorf("chaos: crash is %q: want one of %s", k.Crash, strings.Join(crashes, ", "))
	case k.ExitCode < 0 || k.ExitCode > 255:
		return fmt.Errorf("chaos: exit_code is %d: want 0 to 255", k.ExitCode)
	}
	return k.checkNames()
}

// checkNames refuses two metrics of one name.
func (k knobs) checkNames() error {
	names := append(slices.Collect(maps.Keys(k.Metrics)), k.ScoreMetric, k.LossMetric)
	slices.Sort(names)
	for i, name := range names {
		if name == "" {
			return errors.New("chaos: a metric's name is empty")
		}
		if i > 0 && name == names[i-1] {
			return fmt.Errorf("chaos: two metrics have the name %q", name)
		}
	}
	return nil
}
