package record_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
)

// TestFormatBefore checks that the bytes of earlier versions are read as the same events.
func TestFormatBefore(t *testing.T) {
	data, err := os.ReadFile("testdata/before.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Event{
		&core.ResultReported{Trial: 5, Attempt: 2, Iteration: math.MaxUint64,
			Metrics: example(9).(*core.ResultReported).Metrics, Checkpoint: "ckpt/7",
			Done: true, Stop: &core.Cause{Kind: core.CauseScheduler, Text: "plateau"},
			StopAll: &core.Cause{Kind: core.CauseScheduler, Text: "good enough"}},
		&core.AttemptEnded{Trial: 5, Attempt: 2, Cause: core.Cause{Kind: core.CauseTrainable, Text: "exit status 1"},
			NeverStarted: true, RestoreFailed: true},
		&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed, Text: "the searcher crashed three times"}},
		&core.ResultReported{Trial: 5, Attempt: 2, Iteration: 1, Stop: &core.Cause{Kind: core.CausePlateau,
			Metric: "acc"},
			StopAll: &core.Cause{Kind: core.CauseBudgetExpression, Text: "best > 0.9"}},
		&core.StopRequested{Trial: 5},
	}
	_, list, _ := strings.Cut(string(data), "\n\n")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, %d are known", len(lines), len(want))
	}
	for i, line := range lines {
		_, digits, _ := strings.Cut(line, " ")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		_, e, err := record.Parse(b)
		if diff := cmp.Diff(want[i], e, same); err != nil || diff != "" {
			t.Errorf("%s is read as %v: %s", line, err, diff)
		}
	}
}

// Texts that earlier versions recorded, by place.
var rules = []core.Cause{
	{Kind: core.CauseBudgetPlateau},
	{Kind: core.CausePlateau, Metric: "val/loss"},
	{Kind: core.CauseExpression, Text: `loss > 3.0 && time > 60.0`},
	{Kind: core.CauseBudgetExpression, Text: "trials_failed > 3"},
	{Kind: core.CauseMetricReached, Metric: "timesteps_total", Value: 1e6},
	{Kind: core.CauseMetricReached, Metric: "a metric with spaces", Value: 0.1},
	{Kind: core.CauseMetricAbove, Metric: "loss", Value: 1e-300},
	{Kind: core.CauseMetricBelow, Metric: "reward is below", Value: -3},
}

var attempts = []core.Cause{
	{Kind: core.CauseTrainable, Text: "Traceback:\n  ValueError: lr must be positive"},
	{Kind: core.CauseTrainable, Text: "it was silent for a while"},
	{Kind: core.CauseSilent, NS: int64(90 * time.Second)},
	{Kind: core.CauseSilent, NS: int64(50 * time.Millisecond)},
	{Kind: core.CauseNotBegun, By: `my "own"`, NS: int64(2 * time.Hour)},
	{Kind: core.CauseInvalidReport, Text: "metric \"x\" is reported twice"},
	{Kind: core.CauseNoDirectory, Text: "permission denied"},
}

var plugins = []core.Cause{
	{Kind: core.CausePluginFailed, Text: "scheduler asha crashed"},
	{Kind: core.CauseSchedulerStuck, By: "my scheduler", Count: 12},
}

// TestTextsBefore checks that any text of an earlier version is read as a cause that prints the
// same text.
func TestTextsBefore(t *testing.T) {
	for _, c := range rules {
		sameCause(t, c, *parsed[*core.ResultReported](t, 10, 7, c.String()).Stop)
		sameCause(t, c, *parsed[*core.ResultReported](t, 10, 8, c.String()).StopAll)
	}
	for _, c := range attempts {
		sameCause(t, c, parsed[*core.AttemptEnded](t, 11, 3, c.String()).Cause)
	}
	for _, c := range plugins {
		sameCause(t, c, parsed[*core.PluginFailed](t, 20, 1, c.String()).Cause)
	}
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SampledFrom([]string{"", "reached ", " is above ", "plateau of ", "scheduler ",
			"it was silent for 1h", "trainable \"a\" did not say within "})
		text := words.Draw(r, "before") + rapid.StringN(1, 20, -1).Draw(r, "text") + words.Draw(r, "after")
		for _, c := range []core.Cause{*parsed[*core.ResultReported](r, 10, 7, text).Stop,
			parsed[*core.AttemptEnded](r, 11, 3, text).Cause,
			parsed[*core.PluginFailed](r, 20, 1, text).Cause} {
			if c.String() != text {
				r.Fatalf("%q is read as %+v, which says %q", text, c, c.String())
			}
		}
	})
}

func sameCause(t *testing.T, want, got core.Cause) {
	t.Helper()
	if got != want {
		t.Errorf("%q is read as %+v, want %+v", want.String(), got, want)
	}
}

// parsed returns an event with a single recorded field: a text.
func parsed[E core.Event](t rapid.TB, kind, field uint64, text string) E {
	b := binary.AppendUvarint([]byte{7}, kind)
	b = binary.AppendUvarint(b, field<<3|2)
	b = binary.AppendUvarint(b, uint64(len(text)))
	_, e, err := record.Parse(append(b, text...))
	if err != nil {
		t.Fatal(fmt.Errorf("%q: %w", text, err))
	}
	return e.(E)
}
