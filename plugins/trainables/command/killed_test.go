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
