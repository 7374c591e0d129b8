// Package python_test starts plugins written in Python as a host does, and checks that the Python
// SDK's helpers behave like the Go package space.
package python_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// python returns an interpreter with the dependencies of the SDK.
func python(t testing.TB) string {
	t.Helper()
	return toolchain.NeedPython(t, "grpc", "google.protobuf", "cryptography")
}

// config starts a script of this folder.
func config(t testing.TB, kind sdk.Kind, script string) process.Config {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(script) {
		script = filepath.Join(root, script)
	}
	return process.Config{
		Program: process.Program{
			Kind: kind, Name: strings.TrimSuffix(filepath.Base(script), ".py"), Path: python(t),
			Args: []string{script}, Env: []string{"PYTHONPATH=" + root, "PYTHONDONTWRITEBYTECODE=1"},
			// The machine may be busy; only a successful start matters.
			StartTimeout: time.Minute,
		},
		Log: func(l process.Line) { t.Logf("%s %s %s", l.Stream, l.Level, l.Text) },
	}
}

func start(t testing.TB, c process.Config) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

var nan = math.NaN()

func raws(texts ...string) (list [][]byte) {
	for _, text := range texts {
		list = append(list, []byte(text))
	}
	return list
}

func problem(s *space.Space) sdk.Problem {
	return sdk.Problem{Space: s, Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}, Seed: 7, Trials: 10,
		Concurrency: 2}
}

func openSearcher(t testing.TB, p plugin.Plugin, s *space.Space, options string, snapshot []byte) plugin.Searcher {
	t.Helper()
	opened, err := p.OpenSearcher(t.Context(), problem(s), []byte(options), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func openScheduler(t testing.TB, p plugin.Plugin, s *space.Space, options string) plugin.Scheduler {
	t.Helper()
	opened, err := p.OpenScheduler(t.Context(), problem(s), []byte(options), nil)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// A driver talks to a trainer as a host would, one event at a time.
type driver struct {
	t       testing.TB
	trainer plugin.Trainer
	waiting []train.Event
}

func newDriver(t testing.TB, c process.Config, options string) *driver {
	t.Helper()
	trainer, err := start(t, c).OpenTrainable(t.Context(), []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return &driver{t: t, trainer: trainer}
}

func (d *driver) send(commands ...train.Command) {
	d.t.Helper()
	if err := d.trainer.Send(commands); err != nil {
		d.t.Fatal(err)
	}
}

// start starts a run in its own directory and reads STARTED.
func (d *driver) start(run uint64, params string, trial sdk.Trial) train.Event {
	d.t.Helper()
	if trial.Dir == "" {
		trial.Dir = d.t.TempDir()
	}
	trial.ID, trial.Params = fmt.Sprintf("%05d", run), []byte(params)
	d.send(train.Command{Kind: train.Start, Run: run, Trial: &trial})
	return d.want(train.Started, "")
}

func (d *driver) continues(run uint64) {
	d.send(train.Command{Kind: train.Continue, Run: run, Credits: 1})
}

func (d *driver) next() train.Event {
	d.t.Helper()
	for len(d.waiting) == 0 {
		events, err := d.trainer.Recv()
		if err != nil {
			d.t.Fatal(err)
		}
		d.waiting = append(d.waiting, events...)
	}
	e := d.waiting[0]
	d.waiting = d.waiting[1:]
	e.Metrics = append([]sdk.Metric(nil), e.Metrics...)
	return e
}

// want reads the next event that is not a log, which must match.
func (d *driver) want(kind train.EventKind, what string) train.Event {
	d.t.Helper()
	e := d.next()
	for e.Kind == train.Log {
		e = d.next()
	}
	text := fmt.Sprintf("run %d iteration %d %s%s", e.Run, e.Iteration, e.Error, e.Text)
	if e.Kind != kind || !strings.Contains(text, what) || what == "" && e.Error != "" {
		d.t.Fatalf("got kind %d, %q; want kind %d, %q", e.Kind, text, kind, what)
	}
	return e
}

// wants checks the kind of a failure and its one-line text.
func wants(t *testing.T, err error, f plugin.Failure, parts ...string) {
	t.Helper()
	if err == nil || plugin.FailureOf(err) != f {
		t.Fatalf("got the failure %q: %v; want %q", plugin.FailureOf(err), err, f)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

// eventually polls a condition: the end of a process that is not a child.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not happen", what)
}
