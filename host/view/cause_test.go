package view

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
)

func TestCauseShape(t *testing.T) {
	for _, c := range []struct {
		cause core.Cause
		want  string
	}{
		{core.Cause{}, `null`},
		{core.Cause{Kind: core.CauseCompleted}, `{"kind":"completed"}`},
		{core.Cause{Kind: core.CauseNothingLeft, Iteration: 4}, `{"kind":"nothing_left","trial":0,"iteration":4}`},
		{core.Cause{Kind: core.CauseMetricReached, Metric: "acc"},
			`{"kind":"metric_reached","value":0,"metric":"acc"}`},
		{core.Cause{Kind: core.CauseMetricBelow, Metric: "acc", Value: math.Inf(-1)},
			`{"kind":"metric_below","value":"-Infinity","metric":"acc"}`},
		{core.Cause{Kind: core.CauseSilent, NS: 1_500_000_000}, `{"kind":"silent","seconds":1.5}`},
		{core.TrainableFailure("exit status 1"), `{"kind":"trainable","text":"exit status 1"}`},
	} {
		if b, err := json.Marshal(causeShape(c.cause)); err != nil || string(b) != c.want {
			t.Errorf("%s, %v; want %s", b, err, c.want)
		}
	}
}

// TestCausesAreDocumented checks that docs/REFERENCE.md has each kind of cause that a trial or an
// experiment can end with.
func TestCausesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind := core.CauseCompleted; kind < core.CauseResizeRefused; kind++ {
		if kind.Known() && !strings.Contains(string(page), "`"+kind.String()+"`") {
			t.Errorf("docs/REFERENCE.md does not say what %s is", kind)
		}
	}
}
