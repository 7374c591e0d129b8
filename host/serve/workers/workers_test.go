package workers_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/serve/workers"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/plugins/sdk"
)

const source = "version: 1\nname: w\nseed: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n" +
	"trials: 40\n"

func settings() options.Options {
	return options.Options{Plugins: standard.Plugins(), Output: options.Output{Stdout: io.Discard, Stderr: io.Discard}}
}

func result(g workers.Assignment, iteration uint64) workers.Message {
	return workers.Message{Trial: g.ID, Attempt: g.Attempt, Iteration: iteration,
		Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}
}

// TestLeasesAfterARestart: a lease is as long under the next server as the worker has asked for.
func TestLeasesAfterARestart(t *testing.T) {
	root, ctx := t.TempDir(), t.Context()
	o := settings()
	o.File, o.Mode.Source, o.Storage, o.Resume = "w.yaml", []byte(source), root, "never"
	session, err := asktell.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	w := workers.New(session, clock)
	ask := func(length time.Duration) workers.Assignment {
		t.Helper()
		g, word, err := w.Ask(ctx, length)
		if err != nil || word != "" {
			t.Fatal(word, err)
		}
		return g
	}
	long, usual := ask(time.Hour), ask(workers.Usual)
	dir := session.Dir().Path()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if session, err = asktell.Resume(ctx, dir, settings()); err != nil {
		t.Fatal(err)
	}
	w = workers.New(session, clock)
	t.Cleanup(func() { _ = w.Close() })
	now = now.Add(30 * time.Minute)
	if g := ask(workers.Usual); g.ID != usual.ID {
		t.Errorf("after half an hour another worker gets %s, want %s, whose lease is over", g.ID, usual.ID)
	}
	if g := ask(workers.Usual); g.ID == long.ID {
		t.Error("another worker gets the trial of a worker with a lease of an hour")
	}
	d, attempt, err := w.Report(ctx, result(long, 1))
	if err != nil || d != asktell.Continue {
		t.Fatal(d, err)
	}
	long.Attempt = attempt
	now = now.Add(59 * time.Minute)
	if _, _, err := w.Report(ctx, result(long, 2)); err != nil {
		t.Errorf("within the lease: %v", err)
	}
	now = now.Add(2 * time.Hour)
	if _, _, err := w.Report(ctx, result(long, 3)); err == nil {
		t.Error("a report after the lease counts")
	}
	no, err := session.Find(long.ID)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := session.View(no)
	if want := "its worker was not heard of for 1h"; v.State != core.Pending || v.Cause.String() != want {
		t.Errorf("after the lease the trial is %s, because %q; want %q", v.State, v.Cause, want)
	}
}

// TestToldAfterAnInterruption: a worker that was told to pause because of an interruption is told this reason again.
func TestToldAfterAnInterruption(t *testing.T) {
	ctx := t.Context()
	o := settings()
	o.File, o.Mode.Source, o.Storage, o.Resume = "w.yaml", []byte(source), t.TempDir(), "never"
	session, err := asktell.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	w := workers.New(session, time.Now)
	t.Cleanup(func() { _ = w.Close() })
	g, _, err := w.Ask(ctx, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Do(steer.Interrupt{}); err != nil {
		t.Fatal(err)
	}
	if d, _, err := w.Report(ctx, result(g, 1)); err != nil || d != asktell.Pause {
		t.Fatal(d, err)
	}
	_, err = w.Tell(ctx, workers.Message{Trial: g.ID, Attempt: g.Attempt})
	if err == nil || !strings.Contains(err.Error(), "because the experiment is interrupted") {
		t.Errorf("the tell is answered with %v", err)
	}
}
