package workers_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
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
	"github.com/tunehost/tunehost/plugins/sdk/space"
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

// begun begins an experiment for workers in a folder of its own.
func begun(t *testing.T, o options.Options, more string) *asktell.Session {
	t.Helper()
	o.File, o.Mode.Source, o.Storage, o.Resume = "w.yaml", []byte(source+more), t.TempDir(), "never"
	session, err := asktell.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// TestLeasesAfterARestart: a lease is as long under the next server as the worker has asked for.
func TestLeasesAfterARestart(t *testing.T) {
	ctx := t.Context()
	session := begun(t, settings(), "")
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
	session, err := asktell.Resume(ctx, dir, settings())
	if err != nil {
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

// hangUp is a searcher and a scheduler: each ends the connection of the worker that it is asked for.
type hangUp struct{ cancel *context.CancelFunc }

func (h hangUp) Decide(ctx context.Context, events []sdk.Event) (d sdk.Decisions, err error) {
	(*h.cancel)()
	for _, e := range events {
		if e.Kind == sdk.ResultReported {
			d.Decisions = append(d.Decisions, sdk.Decision{Event: e.Number, Verdict: sdk.Continue})
		}
	}
	return d, ctx.Err()
}

func (hangUp) Observe(context.Context, []sdk.Event) error { return nil }

func (h hangUp) Suggest(ctx context.Context, requests []sdk.Request) (s sdk.Suggestions, err error) {
	(*h.cancel)()
	for range requests {
		s.Points = append(s.Points, space.Point{0.5})
	}
	return s, ctx.Err()
}

// TestWorkersHangUp: a connection that breaks while a plugin is asked loses nothing. A report that is repeated then is
// answered as if it were the first, and a trial that was handed out to nobody comes back when its lease is over.
func TestWorkersHangUp(t *testing.T) {
	var cancel context.CancelFunc
	h, info := hangUp{&cancel}, sdk.Info{Name: "hangup", Version: "1.0.0", Options: []byte(`{"type": "object"}`)}
	o := settings()
	o.Plugins = standard.Plugins(
		sdk.SearcherPlugin{Info: info, Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) {
			return h, sdk.Traits{}, nil
		}},
		sdk.SchedulerPlugin{Info: info, Open: func(sdk.Problem, []byte) (sdk.Scheduler, sdk.Traits, error) {
			return h, sdk.Traits{}, nil
		}})
	connection := func() context.Context {
		ctx, stop := context.WithCancel(t.Context())
		t.Cleanup(stop)
		cancel = stop
		return ctx
	}
	connection()
	session := begun(t, o, "searcher: hangup\nscheduler: hangup\n")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := workers.New(session, func() time.Time { return now })
	t.Cleanup(func() { _ = w.Close() })
	lost, _, _ := w.Ask(connection(), time.Minute)
	g, word, err := w.Ask(t.Context(), time.Hour)
	if err != nil || word != "" {
		t.Fatal(word, err)
	}
	for i := range uint64(5) {
		_, _, _ = w.Report(connection(), result(g, i+1))
		if d, _, err := w.Report(t.Context(), result(g, i+1)); err != nil || d != asktell.Continue {
			t.Fatal(d, err)
		}
	}
	no, err := session.Find(g.ID)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := session.View(no); v.Results != 5 {
		t.Errorf("%d of 5 results are recorded", v.Results)
	}
	now = now.Add(2 * time.Minute)
	if again, word, err := w.Ask(t.Context(), time.Minute); err != nil || again.ID != lost.ID || lost.ID == "" {
		t.Errorf("after the lease of %q another worker gets %q %s %v", lost.ID, again.ID, word, err)
	}
}

// TestToldAfterAnInterruption: a worker that was told to pause because of an interruption is told this reason again.
func TestToldAfterAnInterruption(t *testing.T) {
	ctx := t.Context()
	session := begun(t, settings(), "")
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

// TestTrialsThatNoWorkerHas: after a kill of the server the next ask gets a trial that no worker has, and need not wait
// until a lease of the usual length would have ended: one that was taken back, and one whose ask had no answer.
func TestTrialsThatNoWorkerHas(t *testing.T) {
	ctx := t.Context()
	session := begun(t, settings(), "")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	w := workers.New(session, clock)
	t.Cleanup(func() { _ = w.Close() })
	ask := func(w *workers.Workers, length time.Duration) workers.Assignment {
		t.Helper()
		g, word, err := w.Ask(ctx, length)
		if err != nil || word != "" {
			t.Fatal(word, err)
		}
		return g
	}
	usual, silent := ask(w, workers.Usual), []string{ask(w, 2*time.Second).ID, ask(w, 2*time.Second).ID}
	now = now.Add(3 * time.Second)
	if _, err := w.Tick(ctx); err != nil { // the trials of the silent workers are taken back
		t.Fatal(err)
	}
	if _, err := session.Handle(ctx, asktell.Request{Kind: asktell.Ask}); err != nil { // and the server is killed
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.CopyFS(dir, os.DirFS(session.Dir().Path())); err != nil {
		t.Fatal(err)
	}
	next, err := asktell.Resume(ctx, dir, settings())
	if err != nil {
		t.Fatal(err)
	}
	again := workers.New(next, clock)
	t.Cleanup(func() { _ = again.Close() })
	got := map[string]bool{ask(again, time.Second).ID: true, ask(again, time.Second).ID: true}
	if !got[silent[0]] || !got[silent[1]] {
		t.Errorf("asks got %v; want %v: one was taken back, the ask of the other had no answer", got, silent)
	}
	now = now.Add(workers.Usual + time.Second)
	if _, err := again.Tick(ctx); err != nil {
		t.Fatal(err)
	}
	no, err := next.Find(usual.ID)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := next.View(no); v.State != core.Pending {
		t.Errorf("after its lease the trial of a worker that never came back is %s, want PENDING", v.State)
	}
}
