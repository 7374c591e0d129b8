package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/sdktest"
)

// intercepted is a process that only records the actions.
type intercepted struct {
	did    []string
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func (p *intercepted) plugin() sdk.TrainablePlugin {
	note := func(format string, args ...any) { p.did = append(p.did, fmt.Sprintf(format, args...)) }
	return New(Process{
		Exit:       func(code int) { note("exit %d", code) },
		Kill:       func() { note("kill") },
		Crash:      func(message string) { note("crash: %s", message) },
		Block:      func() { note("block") },
		IgnoreTerm: func() { note("ignore term") },
		Spawn:      func(detached bool) (int, error) { note("spawn %v", detached); return 42, nil },
		Stdout:     &p.stdout, Stderr: &p.stderr,
	})
}

// start opens the plugin with options and returns a run with params.
func start(t *testing.T, options, params string) (*intercepted, sdk.Trainable, *sdktest.Run) {
	t.Helper()
	p := &intercepted{}
	trainable, traits := sdktest.Open(t, p.plugin(), options)
	return p, trainable, sdktest.NewRun(t, traits, params)
}

// train runs a trial that must end without an error.
func train(t *testing.T, options, params string) (*intercepted, *sdktest.Run) {
	t.Helper()
	p, trainable, run := start(t, options, params)
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	return p, run
}

func TestQuietByDefault(t *testing.T) {
	p, run := train(t, `{}`, `{"quality": 0.8}`)
	scores := run.Metric("score")
	if len(scores) != 10 || len(p.did) != 0 || len(run.Logs()) != 0 {
		t.Fatalf("%d results, did %v, logged %v; want 10 and nothing", len(scores), p.did, run.Logs())
	}
	if want := 0.8 * (1 - math.Exp(-2)); math.Abs(scores[9]-want) > 1e-12 || !slices.IsSorted(scores) {
		t.Errorf("scores = %v, want them to rise to %v", scores, want)
	}
	if got := run.Last("loss"); got != 1-scores[9] {
		t.Errorf("loss = %v, want 1 - score", got)
	}
}

func TestParametersOverrideOptions(t *testing.T) {
	_, run := train(t,
		`{"iterations": 5, "metrics": {"a": 1}, "score_metric": "acc"}`,
		`{"iterations": 3, "metrics": {"b": 2}, "done": true}`)
	results := run.Results()
	if len(results) != 3 || !results[2].Done || results[1].Done {
		t.Errorf("results = %+v, want 3, the last one done", results)
	}
	var names []string
	for _, m := range results[0].Metrics {
		names = append(names, m.Name)
	}
	if want := []string{"a", "acc", "b", "loss"}; !slices.Equal(names, want) {
		t.Errorf("metrics %v, want %v", names, want)
	}
}

func TestTrialsOfAProcessDoNotMix(t *testing.T) {
	_, trainable, first := start(t, `{"metrics": {"a": 1}, "iterations": 1}`, `{"metrics": {"b": 2}}`)
	second := sdktest.NewRun(t, sdk.TrainableTraits{Saves: true}, `{}`)
	for _, run := range []*sdktest.Run{first, second} {
		if err := run.Train(t.Context(), trainable); err != nil {
			t.Fatal(err)
		}
	}
	if got := second.Last("b"); !math.IsNaN(got) {
		t.Errorf("the second trial reports the first one's metric, %v", got)
	}
}

func TestNoiseComesFromTheSeed(t *testing.T) {
	scores := func(seed uint64) []float64 {
		_, trainable, run := start(t, `{}`, `{"noise": 0.1}`)
		run.T.Seed = seed
		if err := run.Train(t.Context(), trainable); err != nil {
			t.Fatal(err)
		}
		return run.Metric("score")
	}
	if a, b := scores(1), scores(1); !slices.Equal(a, b) {
		t.Errorf("one seed gave %v and %v", a, b)
	}
	if a, b := scores(1), scores(2); slices.Equal(a, b) {
		t.Errorf("two seeds gave %v", a)
	}
}

// B-013
func TestReportsNothing(t *testing.T) {
	for _, params := range []string{`{"iterations": 0}`, `{"never_report": true}`} {
		if _, run := train(t, `{}`, params); len(run.Results()) != 0 {
			t.Errorf("%s: %d results", params, len(run.Results()))
		}
	}
}

// B-014, B-015
func TestBrokenResults(t *testing.T) {
	_, run := train(t, `{}`, `{"iterations": 4, "nan_at": 1, "inf_at": 2, "missing_metric_at": 3}`)
	scores, losses := run.Metric("score"), run.Metric("loss")
	if !math.IsNaN(scores[0]) || !math.IsNaN(losses[0]) {
		t.Errorf("nan_at: score %v, loss %v", scores[0], losses[0])
	}
	if !math.IsInf(scores[1], 1) || !math.IsInf(losses[1], -1) {
		t.Errorf("inf_at: score %v, loss %v", scores[1], losses[1])
	}
	if got := run.Results()[2].Metrics; len(got) != 1 || got[0].Name != "loss" {
		t.Errorf("missing_metric_at: %v, want loss alone", got)
	}
	if math.IsNaN(scores[3]) {
		t.Error("the result after them is broken too")
	}
}

// B-070
func TestCrashes(t *testing.T) {
	for how, want := range map[string]string{
		"exit":            "exit 3",
		"kill":            "kill",
		"panic_elsewhere": "crash: chaos: crash_at 2 in attempt 1: panic_elsewhere",
	} {
		p, trainable, run := start(t, `{"exit_code": 3}`, `{"crash_at": 2, "crash": "`+how+`"}`)
		err := run.Train(t.Context(), trainable)
		if err == nil || !slices.Equal(p.did, []string{want}) || len(run.Results()) != 1 {
			t.Errorf("%s: did %q after %d results, error %v; want %q after one",
				how, p.did, len(run.Results()), err, want)
		}
	}
	_, trainable, run := start(t, `{}`, `{"crash_at": 1, "crash": "panic"}`)
	if err := run.Train(t.Context(), trainable); err == nil ||
		!strings.Contains(err.Error(), "panic: chaos: crash_at 1") {
		t.Errorf("panic: error = %v", err)
	}
}

// B-071
func TestFailsTheFirstAttemptsOnly(t *testing.T) {
	_, trainable, run := start(t, `{"fail_times": 2}`, `{"fail_at": 4}`)
	run.SaveEvery = 3
	for attempt := 1; attempt <= 3; attempt++ {
		err := run.Train(t.Context(), trainable)
		if failed := err != nil; failed != (attempt <= 2) {
			t.Fatalf("attempt %d: error = %v", attempt, err)
		}
		if attempt < 3 {
			run = run.Resume(sdktest.Checkpoint{Iteration: 3, Dir: checkpoint(t, "3")})
		}
	}
	if got := run.Results()[0].Iteration; got != 4 {
		t.Errorf("the last attempt began with iteration %d, want 4", got)
	}
	_, trainable, run = start(t, `{"fail_times": 1}`, `{}`)
	if err := run.Train(t.Context(), trainable); err == nil || len(run.Results()) != 0 {
		t.Errorf("fail_times alone: error = %v after %d results", err, len(run.Results()))
	}
}

func checkpoint(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+checkpointFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// stopsWhoWaits stops the trial when it starts to wait for a stop.
type stopsWhoWaits struct{ *sdktest.Run }

func (r stopsWhoWaits) Stopped() <-chan struct{} {
	r.Stop()
	return r.Run.Stopped()
}

func TestListensWhileItWaits(t *testing.T) {
	for params, results := range map[string]int{
		`{"hang_at": 3}`:         2,
		`{"sleep": 1e6}`:         0,
		`{"start_delay": 1e6}`:   0,
		`{"never_report": true}`: 0,
	} {
		_, trainable, run := start(t, `{}`, params)
		err := trainable.Train(t.Context(), stopsWhoWaits{run})
		if !errors.Is(err, sdk.ErrStopped) || len(run.Results()) != results {
			t.Errorf("%s: error = %v after %d results, want ErrStopped after %d", params, err, len(run.Results()),
				results)
		}
	}
}

func TestStubbornHangDoesNotListen(t *testing.T) {
	p, trainable, run := start(t, `{"stubborn": true}`, `{"hang_at": 1}`)
	if err := run.Train(t.Context(), trainable); err != nil || !slices.Equal(p.did, []string{"block"}) {
		t.Errorf("did %q, error %v; want it to block", p.did, err)
	}
}

func TestCancelledContextEndsASleep(t *testing.T) {
	for _, params := range []string{`{"sleep": 1e6}`, `{"start_delay": 1e6}`, `{"hang_at": 1}`,
		`{"never_report": true}`} {
		_, trainable, run := start(t, `{}`, params)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := trainable.Train(ctx, run); !errors.Is(err, sdk.ErrStopped) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v, want ErrStopped and Canceled", params, err)
		}
	}
}

// B-023
func TestIgnoresBeingStopped(t *testing.T) {
	p, trainable, run := start(t, `{}`, `{"ignore_term": true}`)
	run.StopAt = 2
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	if want := []string{"ignore term", "block"}; !slices.Equal(p.did, want) {
		t.Errorf("did %q, want %q", p.did, want)
	}
}

func TestStopDelayEndsWhenKilled(t *testing.T) {
	_, trainable, run := start(t, `{}`, `{"stop_delay": 1e6}`)
	run.StopAt = 1
	ctx, cancel := context.WithCancel(t.Context())
	run.OnReport = func(sdk.Result) error { cancel(); return nil }
	if err := trainable.Train(ctx, run); !errors.Is(err, sdk.ErrStopped) {
		t.Errorf("error = %v, want ErrStopped", err)
	}
}

// B-050, B-055
func TestSavesAndGoesOn(t *testing.T) {
	_, trainable, first := start(t, `{}`, `{"noise": 0.3}`)
	first.SaveEvery, first.StopAt = 4, 6
	if err := first.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	second := first.Resume(first.Checkpoints()[0])
	if err := second.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	_, whole := train(t, `{}`, `{"noise": 0.3}`)
	got := append(first.Metric("score")[:4], second.Metric("score")...)
	if !slices.Equal(got, whole.Metric("score")) {
		t.Errorf("interrupted %v, uninterrupted %v", got, whole.Metric("score"))
	}
}

func TestCheckpointsFail(t *testing.T) {
	_, trainable, run := start(t, `{}`, `{"save_fails": true}`)
	run.SaveEvery = 2
	if err := run.Train(t.Context(), trainable); err == nil || !strings.Contains(err.Error(), "save_fails") {
		t.Errorf("save_fails: error = %v", err)
	}
	for params, dir := range map[string]string{
		`{"restore_fails": true}`: checkpoint(t, "1"),
		`{}`:                      checkpoint(t, "one"),
		`{"sleep": 0}`:            t.TempDir(),
	} {
		_, trainable, run := start(t, `{}`, params)
		err := run.Resume(sdktest.Checkpoint{Iteration: 1, Dir: dir}).Train(t.Context(), trainable)
		if _, ok := errors.AsType[*sdk.RestoreError](err); !ok {
			t.Errorf("%s: error = %v, want a RestoreError", params, err)
		}
	}
}

func TestOwnCheckpoints(t *testing.T) {
	_, run := train(t, `{"own_checkpoint_every": 4}`, `{}`)
	checkpoints := run.Checkpoints()
	if len(checkpoints) != 2 {
		t.Fatalf("checkpoints = %v, want two", checkpoints)
	}
	next := run.Resume(checkpoints[1])
	_, trainable, _ := start(t, `{}`, `{}`)
	if err := next.Train(t.Context(), trainable); err != nil || len(next.Results()) != 2 {
		t.Errorf("%d results after iteration 8, error %v; want 2", len(next.Results()), err)
	}
}

func TestCannotSave(t *testing.T) {
	p := &intercepted{}
	trainable, traits := sdktest.Open(t, p.plugin(), `{"saves": false, "shared": true, "reusable": false}`)
	if want := (sdk.TrainableTraits{Shared: true}); traits != want {
		t.Errorf("traits = %+v, want %+v", traits, want)
	}
	run := sdktest.NewRun(t, traits, `{}`) // fails if a save function is passed
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Error(err)
	}
}

func TestBadNeighbour(t *testing.T) {
	p, run := train(t, `{}`, `{"iterations": 2, "fork_children": 2, "detach_children": true, "flood_output": 3,
		"garbage": 11, "big_log": 100000, "memory_mb": 1}`)
	if want := []string{"spawn true", "spawn true"}; !slices.Equal(p.did, want) {
		t.Errorf("did %q, want %q", p.did, want)
	}
	out, err := strings.Count(p.stdout.String(), "\n"), strings.Count(p.stderr.String(), "\n")
	if out != 6 || err != 6 {
		t.Errorf("%d lines on stdout and %d on stderr, want 6 each", out, err)
	}
	logs := run.Logs()
	if got, want := len(logs), 2+2*(11+1); got != want {
		t.Errorf("%d log entries, want %d", got, want)
	}
	if got := len(slices.MaxFunc(logs, func(a, b string) int { return len(a) - len(b) })); got != 100000 {
		t.Errorf("the longest line has %d bytes", got)
	}
}

func TestFillsMemory(t *testing.T) {
	if got := len(fill(3)); got != 3<<20 {
		t.Errorf("fill(3) is %d bytes", got)
	}
}

func TestRefuses(t *testing.T) {
	for params, want := range map[string]string{
		`{"crash_att": 1}`:          `unknown parameter "crash_att"; known: iterations, sleep, `,
		`{"crash_at": "x"}`:         `parameter "crash_at" is "x"; allowed: a whole number from 0`,
		`{"crash_at": -1}`:          `parameter "crash_at" is -1`,
		`{"crash": "burn"}`:         `parameter "crash" is "burn"; allowed: exit, kill, panic or panic_elsewhere`,
		`{"exit_code": 256}`:        `parameter "exit_code" is 256`,
		`{"sleep": -1}`:             `parameter "sleep" is -1; allowed: a number from 0 to 1000000000`,
		`{"noise": -1}`:             `parameter "noise" is -1`,
		`{"metrics": {"score": 1}}`: `two metrics have the name "score"`,
		`{"score_metric": ""}`:      `parameter "score_metric" is ""; allowed: a text that is not empty`,
		`{"metrics": {"": 1}}`:      `name is empty`,
		`3`:                         `the parameters are 3; allowed: a map`,
	} {
		_, trainable, run := start(t, `{}`, params)
		if err := run.Train(t.Context(), trainable); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parameters %s: error = %v, want %q", params, err, want)
		}
		options := strings.ReplaceAll(want, "parameter", "option")
		if _, _, err := Plugin.Open([]byte(params)); err == nil || !strings.Contains(err.Error(), options) {
			t.Errorf("options %s: error = %v, want %q", params, err, options)
		}
	}
	_, run := train(t, `{"any_params": true}`, `{"lr": 2}`)
	if len(run.Results()) != 10 {
		t.Errorf("any_params: %d results", len(run.Results()))
	}
}

// BenchmarkNothing measures a trial that does nothing.
func BenchmarkNothing(b *testing.B) {
	trainable, traits := sdktest.Open(b, Plugin, `{"iterations": 0}`)
	run := sdktest.NewRun(b, traits, `{}`)
	for b.Loop() {
		if err := trainable.Train(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
}
