package channel

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Parse reads one line of a program: a report as described in the package comment. The checkpoint
// is returned as written.
func Parse(line []byte) (sdk.Result, error) {
	r, err := ParseWith(line, func(name string, _ any) error {
		return fmt.Errorf("unknown key %q: expected metrics, iteration, checkpoint, done", clip(name))
	})
	if err == nil && len(r.Metrics) == 0 {
		err = errors.New(`no metrics: expected {"metrics":{"NAME":NUMBER}}`)
	}
	return r, err
}

// Object is the value of a key with a JSON object, where [ParseWith] expects none.
type Object struct{}

// ParseWith reads a line that may have other keys than those of a report. It calls other for each
// such key, as [Flatten] does, or with an [Object]; other returns an error for keys that it does not know. The metrics
// are not nil if the line has that key.
func ParseWith(line []byte, other func(name string, value any) error) (sdk.Result, error) {
	p := parser{seen: map[string]bool{}, other: other}
	if err := flatten(line, p.leaf, p.object); err != nil {
		return sdk.Result{}, err
	}
	if p.r.Iteration == 0 {
		p.r.Iteration = p.said
	}
	return p.r, nil
}

// IsIteration reports whether a number of that name, among the metrics, is the iteration.
func IsIteration(name string) bool { return name == "iteration" || name == "training_iteration" }

type parser struct {
	r     sdk.Result
	said  uint64 // the iteration, if it is among the metrics
	seen  map[string]bool
	other func(name string, value any) error
}

// object processes a key whose value is an object: metrics alone have one.
func (p *parser) object(name string) error {
	if name != "metrics" {
		return p.leaf(name, Object{})
	}
	if p.r.Metrics == nil {
		p.r.Metrics = []sdk.Metric{}
	}
	return nil
}

func (p *parser) leaf(name string, value any) (err error) {
	if p.seen[name] {
		return fmt.Errorf("%q is given twice", clip(name))
	}
	p.seen[name] = true
	switch metric, ok := strings.CutPrefix(name, "metrics/"); {
	case ok:
		return p.metric(metric, value)
	case name == "metrics":
		return errors.New(`"metrics" is not an object`)
	case value == nil && (name == "iteration" || name == "checkpoint" || name == "done"):
		return nil
	case name == "done":
		if p.r.Done, ok = value.(bool); !ok {
			return errors.New(`"done" is neither true nor false`)
		}
		return nil
	case name == "iteration":
		p.r.Iteration, err = Iteration(value)
		return err
	case name == "checkpoint":
		p.r.Checkpoint, ok = value.(string)
		if !ok || p.r.Checkpoint == "" {
			return errors.New(`"checkpoint" is not the name of a directory`)
		}
		return nil
	}
	return p.other(name, value)
}

func (p *parser) metric(name string, value any) error {
	if err := CheckName(name); err != nil {
		return err
	}
	v, ok := value.(float64)
	if !ok {
		p.value(name, value)
		return nil
	}
	if n, err := Iteration(v); err == nil && IsIteration(name) {
		p.said = n
		if name == "iteration" {
			return nil
		}
	}
	if len(p.r.Metrics) == MaxMetrics {
		return fmt.Errorf("more than %d metrics", MaxMetrics)
	}
	p.r.Metrics = append(p.r.Metrics, sdk.Metric{Name: name, Value: v})
	return nil
}

// value stores a reported value that is not a number.
func (p *parser) value(name string, value any) {
	if done, is := value.(bool); is && name == "done" {
		p.r.Done = done
		return
	}
	p.r.Values = AppendValue(p.r.Values, name, value)
}

// AppendValue appends a value that is not a metric (a string, a boolean, null or an array, as
// returned by [Flatten]) to the JSON object of a result's values. It omits values that would make
// the object larger than [sdk.MaxValues].
func AppendValue(values []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	key, err2 := json.Marshal(name)
	if err != nil || err2 != nil || len(values)+len(key)+len(text)+len("{,:}") > sdk.MaxValues {
		return values
	}
	if len(values) == 0 {
		values = append(values, '{')
	} else {
		values[len(values)-1] = ','
	}
	values = append(append(append(values, key...), ':'), text...)
	return append(values, '}')
}

// Iteration parses an iteration: an integer from 1 to below 2^53. 2^53 itself is refused, because
// it may have been written as 2^53+1.
func Iteration(value any) (uint64, error) {
	v, ok := value.(float64)
	switch {
	case !ok:
		return 0, errors.New("iteration is not a whole number from 1")
	case v >= sdk.MaxIteration:
		return 0, fmt.Errorf("iteration is beyond %d", uint64(sdk.MaxIteration-1))
	case v == 0:
		return 0, errors.New("iteration 0 is not a whole number from 1: add 1 to each, or leave it out: then results " +
			"are counted")
	case v != math.Trunc(v) || v < 1: // including NaN
		return 0, fmt.Errorf("iteration %v is not a whole number from 1", v)
	}
	return uint64(v), nil
}

// CheckName returns an error if a metric cannot have the name.
func CheckName(name string) error { return sdk.CheckMetricName(name) }

func clip(s string) string { return s[:min(len(s), 64)] }

// format encodes a report as a line.
func format(m Message) ([]byte, error) {
	line := struct {
		Metrics    map[string]any `json:"metrics"`
		Iteration  uint64         `json:"iteration,omitempty"`
		Checkpoint string         `json:"checkpoint,omitempty"`
	}{map[string]any{}, m.Iteration, m.Checkpoint}
	for name, v := range m.Values {
		line.Metrics[name] = v
	}
	for name, v := range m.Metrics {
		line.Metrics[name] = jsonNumber(v)
	}
	b, err := json.Marshal(line)
	return append(b, '\n'), err
}

// jsonNumber returns a number, or a string for numbers that JSON lacks.
func jsonNumber(v float64) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return v
}
