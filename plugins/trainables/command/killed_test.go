package command

import (
	"context"
	"errors"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// A host that dies answers nothing: a program that was told "stop" would write its final model, though nobody has
// decided that and the result may not be in the record.
func TestNoAnswerFromADeadHost(t *testing.T) {
	run := newRun(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := newAttempt(openTest(t, sh("")), run)
	close(a.results.started)
	run.decide = func(sdk.Result) error { cancel(); return sdk.ErrKilled }
	res := sdk.Result{Metrics: []sdk.Metric{{Name: "accuracy", Value: 1}}}
	for range 2 {
		if d, err := a.conns.Report(res); d != "" || !errors.Is(err, channel.ErrNoAnswer) {
			t.Errorf("the answer is %q, %v", d, err)
		}
	}
	if a.conns.begin(); a.conns.answer(unanswered) != unanswered {
		t.Error("a result that nobody has taken is answered")
	}
	if run.rejected != nil || ctx.Err() == nil {
		t.Error(run.rejected, ctx.Err())
	}
}

// B-080: a program that was paused by SIGTERM hears nothing of a result that the record may not have, and neither does
// one that has reported its last result.
func TestNoAnswerWithoutRecord(t *testing.T) {
	for _, c := range []struct {
		done             bool
		reported, lasted error // the host's answers
		want             channel.Decision
	}{
		{reported: sdk.ErrKilled},
		{reported: sdk.ErrPaused, want: channel.Pause},
		{done: true, lasted: sdk.ErrKilled},
		{done: true, want: channel.Stop},
	} {
		run := newRun(t)
		run.decide = func(sdk.Result) error { return c.reported }
		run.recorded = func() error { return c.lasted }
		a := newAttempt(openTest(t, sh("")), run)
		close(a.results.started)
		if !c.done {
			a.results.stop(sdk.ErrPaused, false)
		}
		d, err := a.conns.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "accuracy", Value: 1}}, Done: c.done})
		if d != c.want || errors.Is(err, channel.ErrNoAnswer) != (c.want == unanswered) {
			t.Errorf("%+v: the answer is %q, %v", c, d, err)
		}
	}
}
