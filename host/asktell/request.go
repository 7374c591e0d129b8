package asktell

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// Kind is the kind of a request.
type Kind string

// Requests.
const (
	Ask    Kind = "ask"
	Report Kind = "report"
	Tell   Kind = "tell"
	Best   Kind = "best"
)

// Name is the caller's name of a trial.
type Name struct {
	// Text is its id, or its number in decimal.
	Text string
	// Number says that it was written as a JSON number.
	Number bool
}

// Request is one line of the caller.
type Request struct {
	Kind      Kind
	Trial     Name         // Report, Tell
	Metrics   []sdk.Metric // Report, Tell; not nil if the line has the key
	Iteration uint64       // Report, Tell; 0: not said
	// Failed is why the trial failed, or "" (Tell).
	Failed string
	// Time is the running time in nanoseconds, where HasTime.
	Time    int64
	HasTime bool
}

// maxSeconds is below the maximum of 63 bits of nanoseconds.
const maxSeconds = 9e9

// Parse reads a request; errors are for the caller, in one line.
func Parse(line []byte) (Request, error) {
	var r Request
	if isEmpty(line) {
		return r, errors.New("the line is empty: expected a JSON object, such as {\"ask\": true}")
	}
	result, err := channel.ParseWith(line, r.key)
	if err := tooLarge(line, result.Metrics, err); err != nil {
		return Request{}, err
	}
	r.Metrics, r.Iteration = result.Metrics, result.Iteration
	if result.Done {
		return Request{}, unknown("done")
	}
	if len(result.Values) > 0 {
		return Request{}, fmt.Errorf("metrics: %.200s is not a number", result.Values)
	}
	if result.Checkpoint != "" {
		return Request{}, unknown("checkpoint")
	}
	return r, r.check()
}

// tooLarge refuses a number beyond those of a float64: taken for infinite, as in reports of programs, it is a result
// that nobody has measured. It returns err if there is none.
func tooLarge(line []byte, metrics []sdk.Metric, err error) error {
	infinite := func(m sdk.Metric) bool { return math.IsInf(m.Value, 0) }
	if err == nil && !slices.ContainsFunc(metrics, infinite) {
		return nil
	}
	if place, number, ok := jsontext.TooLarge(line); ok {
		return fmt.Errorf("%.200s: the number %s is too large", place, number)
	}
	return err
}

func isEmpty(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

func unknown(name string) error {
	return fmt.Errorf("unknown key %q: expected ask, report, tell or best, and metrics, iteration, failed, time",
		name[:min(len(name), 64)])
}

func (r *Request) key(name string, value any) error {
	switch k := Kind(name); k {
	case Ask, Best:
		if value != true {
			return fmt.Errorf("%q is not true", name)
		}
		return r.is(k)
	case Report, Tell:
		if err := r.is(k); err != nil {
			return err
		}
		return r.names(name, value)
	}
	switch name {
	case "failed":
		return r.failed(value)
	case "time":
		return r.time(value)
	}
	return unknown(name)
}

// is sets the request's kind; a request has exactly one.
func (r *Request) is(k Kind) error {
	if r.Kind != "" {
		return fmt.Errorf("%s and %s in one request", r.Kind, k)
	}
	r.Kind = k
	return nil
}

func (r *Request) names(key string, value any) error {
	switch v := value.(type) {
	case string:
		r.Trial = Name{Text: v}
		return nil
	case float64:
		if v >= 0 && v <= math.MaxUint32 && v == math.Trunc(v) {
			r.Trial = Name{strconv.FormatUint(uint64(v), 10), true}
			return nil
		}
	}
	return fmt.Errorf("%q is neither a trial's id nor its number", key)
}

// failed reads true as a failure without a reason, and null and false as no failure.
func (r *Request) failed(value any) error {
	switch v := value.(type) {
	case string:
		r.Failed = v
	case float64: // a text that reads like NaN, or an exit status
		r.Failed = strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		if !v {
			return nil
		}
	case nil:
		return nil
	default:
		return errors.New(`"failed" is not a text`)
	}
	if r.Failed == "" {
		r.Failed = NoReason
	}
	return nil
}

// NoReason is why a trial has failed of which nobody says why.
const NoReason = "failed"

func (r *Request) time(value any) error {
	v, ok := value.(float64)
	if !ok || !(v >= 0 && v < maxSeconds) {
		return errors.New(`"time" is not a number of seconds from 0`)
	}
	r.Time, r.HasTime = int64(math.Round(v*1e9)), true
	return nil
}

// check returns an error unless the request has exactly the fields that its kind needs.
func (r *Request) check() error {
	results := len(r.Metrics) > 0 || r.Iteration != 0
	given := r.Metrics != nil || r.Iteration != 0
	switch {
	case r.Kind == "":
		return errors.New(`not a request: expected {"ask":true}, {"report":ID,…}, {"tell":ID,…} or {"best":true}`)
	case (r.Kind == Ask || r.Kind == Best) && (given || r.Failed != ""):
		return fmt.Errorf("%s takes no metrics, iteration or failed", r.Kind)
	case r.Kind == Report && r.Failed != "":
		return errors.New("report takes no failed: tell it")
	case r.Kind == Report && len(r.Metrics) == 0:
		return errors.New(`no metrics: expected {"report":ID,"metrics":{"NAME":NUMBER}}`)
	case r.Failed != "" && results:
		return errors.New("metrics and failed in one request")
	}
	return nil
}
