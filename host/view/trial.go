package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/host/storage"
)

// Metric is a number with its name.
type Metric struct {
	Name  string
	Value float64
}

func byName(a, b Metric) int { return strings.Compare(a.Name, b.Name) }

// Trial is the present state of a trial.
type Trial struct {
	Subject
	// Metrics and Iteration are those of the last result, Metrics by name; Results is how many results it
	// has reported itself.
	Metrics   []Metric
	Iteration uint64
	Results   uint32
	Failures  uint32
	// NeverStarted says that it ended before it ever started.
	NeverStarted bool
	// Node is where its last attempt ran, or runs; "" before the first.
	Node string
	// WasRunning says that it ran when its host ended, and that no host runs it now: State is what is recorded.
	WasRunning bool
	// StoppedEarly says that a scheduler, a rule, the user or the end of the experiment has ended it before its own
	// end.
	StoppedEarly bool
	// Cause says why it ended, is paused or waits again; Reason is its text for people.
	Cause  core.Cause
	Reason string
	// Started and Ended are zero before the event; Seconds is how long it has trained.
	Started, Ended time.Time
	Seconds        float64
	// Checkpoint is the directory of the newest checkpoint that it has made with Params, or "";
	// CheckpointAt is its iteration, also where the storage alone has it.
	Checkpoint   string
	CheckpointAt uint64
	// Exports are its models, by format.
	Exports []Export
	// Suggestion is the number of the suggestion that it is one of Runs runs of. Runs is 1 unless
	// suggestions have several.
	Suggestion, Runs int
}

// Export is a trial's model in one format, or why there is none.
type Export struct {
	Format string
	// Dir holds it; "" if Error is set.
	Dir   string
	Bytes int64
	Error string
}

// Condition is the state for people: it does not say that a trial runs which no host runs.
func (t *Trial) Condition() string {
	if t.WasRunning {
		return "was " + t.State.String()
	}
	return t.State.String()
}

// Metric returns a value of the last result.
func (t *Trial) Metric(name string) (float64, bool) {
	return metricOf(t.Metrics, name)
}

func exportOf(x core.Export, trialDir string) Export {
	e := Export{Format: x.Format, Bytes: x.Bytes, Error: x.Error}
	if x.Error == "" {
		e.Dir = storage.ExportFiles(trialDir, x.Format)
	}
	return e
}

// attemptsJSON say how a trial came to its state: trials with the same one may differ in them.
type attemptsJSON struct {
	Attempts   uint32 `json:"attempts"`
	Node       string `json:"node,omitempty"`
	Unstarted  bool   `json:"never_started,omitempty"`
	WasRunning bool   `json:"was_running,omitempty"`
	Early      bool   `json:"stopped_early,omitempty"`
}

// trialJSON is the shape that `trials --json` promises; fields are added, never renamed.
type trialJSON struct {
	Trial     string           `json:"trial"`
	Number    core.TrialNo     `json:"number"`
	State     string           `json:"state"`
	Params    json.RawMessage  `json:"params"`
	Metrics   map[string]Float `json:"metrics"`
	Iteration uint64           `json:"iteration"`
	Results   uint32           `json:"results"`
	Failures  uint32           `json:"failures"`
	attemptsJSON
	Error      *string    `json:"error"`
	Reason     *string    `json:"reason"`
	Cause      *causeJSON `json:"cause"`
	Dir        string     `json:"dir"`
	Started    *time.Time `json:"started"`
	Ended      *time.Time `json:"ended"`
	Seconds    Float      `json:"time_total_s"`
	Checkpoint *string    `json:"checkpoint"`
	// CheckpointAt is set with Checkpoint, and where the storage alone has it.
	CheckpointAt uint64       `json:"checkpoint_iteration,omitempty"`
	Exports      []exportJSON `json:"exports,omitempty"`
	Suggestion   *int         `json:"suggestion,omitempty"` // if suggestions have several runs
}

type exportJSON struct {
	Format string  `json:"format"`
	Dir    *string `json:"dir"`
	Bytes  int64   `json:"bytes"`
	Error  *string `json:"error"`
}

func (t *Trial) exports() (list []exportJSON) {
	for _, x := range t.Exports {
		list = append(list, exportJSON{Format: x.Format, Dir: orNull(x.Dir), Bytes: x.Bytes, Error: orNull(x.Error)})
	}
	return list
}

func (t *Trial) shape() trialJSON {
	var suggestion *int
	if t.Runs > 1 {
		suggestion = &t.Suggestion
	}
	return trialJSON{Suggestion: suggestion, Trial: t.ID, Number: t.Number, State: t.State.String(), Params: t.Params,
		Metrics:   metricsJSON(t.Metrics),
		Iteration: t.Iteration, Results: t.Results, Failures: t.Failures,
		attemptsJSON: attemptsJSON{Attempts: t.Attempt, Node: t.Node, Unstarted: t.NeverStarted,
			WasRunning: t.WasRunning, Early: t.StoppedEarly},
		Error: orNull(t.Error), Reason: orNull(t.Reason), Cause: causeShape(t.Cause), Dir: t.Dir,
		Started: timeOrNull(t.Started), Ended: timeOrNull(t.Ended),
		Seconds: Float(t.Seconds), Checkpoint: orNull(t.Checkpoint), CheckpointAt: t.CheckpointAt,
		Exports: t.exports()}
}

// MarshalJSON writes the stable shape of `trials --json`; missing values are null.
func (t Trial) MarshalJSON() ([]byte, error) { return json.Marshal(t.shape()) }

// Ranked is a trial with the value that it was ranked by: Params, Metrics, Iteration and Checkpoint
// are those of that value. If suggestions have several runs it is the first one that counts,
// and the value is the mean of those that count.
type Ranked struct {
	Trial
	Value float64
	Scope Scope
	// Last is the iteration of the trial's last result.
	Last uint64
	// Nearest is set if the value's own checkpoint does not exist: the directory of the trial's nearest
	// checkpoint with the same parameters, or ""; NearestAt is its iteration.
	Nearest   string
	NearestAt uint64
	// Away is where Checkpoint would be if this copy of the experiment had it; the storage does. "": there is none.
	Away string
	// Saves says that the trial has ever made a checkpoint.
	Saves bool
	// MeanOf are the runs that the value is the mean of; nil for a single trial.
	MeanOf []core.TrialNo
	// Front are all trials that no other beats, where the best by several objectives was asked for.
	Front []Trial
}

// rankedJSON is the shape that `best --json` promises.
type rankedJSON struct {
	trialJSON
	Value Float `json:"value"`
	Scope Scope `json:"scope"`
	// MeanOf are the runs that the value is the mean of.
	MeanOf []core.TrialNo `json:"mean_of,omitempty"`
	// Nearest is set if checkpoint is null.
	Nearest   string `json:"nearest_checkpoint,omitempty"`
	NearestAt uint64 `json:"nearest_iteration,omitempty"`
	// Front is there with several objectives, in the answer of a server.
	Front []Trial `json:"front,omitempty"`
}

// MarshalJSON writes the stable shape of `best --json`.
func (r Ranked) MarshalJSON() ([]byte, error) {
	return json.Marshal(rankedJSON{trialJSON: r.Trial.shape(), Value: Float(r.Value), Scope: r.Scope,
		MeanOf: r.MeanOf, Nearest: r.Nearest, NearestAt: r.NearestAt, Front: r.Front})
}

// Float is a number in JSON; NaN and infinities are strings.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	switch x := float64(f); {
	case x != x:
		return []byte(`"NaN"`), nil
	case finite(x):
		return json.Marshal(x)
	case x > 0:
		return []byte(`"Infinity"`), nil
	}
	return []byte(`"-Infinity"`), nil
}

// Floats are many of them.
type Floats []Float

// MarshalJSON implements json.Marshaler.
func (list Floats) MarshalJSON() ([]byte, error) {
	return list.appendJSON(make([]byte, 0, 16*len(list)+2)), nil
}

func (list Floats) appendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendFloat(b, float64(x))
	}
	return append(b, ']')
}

func metricsJSON(list []Metric) map[string]Float {
	m := make(map[string]Float, len(list))
	for _, x := range list {
		m[x.Name] = Float(x.Value)
	}
	return m
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
