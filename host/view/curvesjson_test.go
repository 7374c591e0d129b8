package view

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/tunehost/tunehost/core"
)

// The curves are written by hand as encoding/json writes them: no field is left out.
func TestCurvesJSON(t *testing.T) {
	for _, x := range []LearningCurves{
		{Metric: "loss", Trials: []LearningCurve{}, Best: []core.TrialNo{}},
		{Metric: `<"a">`, Mode: "min", Total: 7, Trials: []LearningCurve{
			{Number: 3, Trial: "abc", State: "RUNNING", Iterations: []uint64{}, Values: Floats{}},
			{Number: 4, Trial: "d\xffe", State: "TERMINATED", WasRunning: true, Cause: "scheduler",
				Reason: "\u2028 worse <than> \x01 & \"most\"\n", Stopped: true,
				Iterations: []uint64{1, 9, math.MaxUint64},
				Values:     Floats{0.1, Float(math.NaN()), Float(math.Inf(-1))}}}, Best: []core.TrialNo{3, 4}},
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
		if got := x.AppendJSON(nil); !bytes.Equal(append(got, '\n'), want.Bytes()) {
			t.Errorf("%s, want %s", got, want.Bytes())
		}
	}
}

// The steps are, too.
func TestImprovingJSON(t *testing.T) {
	for _, x := range []Improving{
		{Metric: "loss", Mode: "min", Steps: []ImprovingAt{}, Best: []core.TrialNo{}},
		{Metric: `<"a">`, Mode: "max", Total: 7, Steps: []ImprovingAt{
			{Trial: "abc", Number: 3, Value: 0.1, Best: 2, Seconds: 1.5, Ended: 4, State: "ERROR"},
			{Trial: "d", Number: math.MaxUint32, Value: Float(math.NaN()), Best: -1e300, Running: true,
				State: "RUNNING", WasRunning: true}}, Best: []core.TrialNo{7}},
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(x); err != nil {
			t.Fatal(err)
		}
		if got := x.AppendJSON(nil); !bytes.Equal(append(got, '\n'), want.Bytes()) {
			t.Errorf("%s, want %s", got, want.Bytes())
		}
	}
}
