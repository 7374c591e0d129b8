package sdktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// recorder is a testing.TB that records errors instead of failing.
type recorder struct {
	testing.TB
	complaints []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.complaints = append(r.complaints, fmt.Sprintf(format, args...))
}

// counter reports n results and saves its count.
func counter(n uint64) sdk.TrainFunc {
	return func(_ context.Context, run sdk.Run) error {
		for i := run.Trial().Iteration + 1; i <= n; i++ {
			save := func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "at"), []byte(fmt.Sprint(i)), 0o600)
			}
			result := sdk.Result{Iteration: i, Metrics: []sdk.Metric{{Name: "x", Value: float64(i)}}}
			if err := run.Report(result, save); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestStopsSavesAndResumes(t *testing.T) {
	run := NewRun(t, sdk.TrainableTraits{Saves: true}, `{}`)
	run.StopAt, run.SaveEvery = 5, 2
	if err := run.Train(t.Context(), counter(9)); err != nil {
		t.Fatal(err)
	}
	if got := run.Last("x"); got != 5 {
		t.Errorf("the last result is %v, want 5", got)
	}
	checkpoints := run.Checkpoints()
	if len(checkpoints) != 2 || checkpoints[1].Iteration != 4 {
		t.Fatalf("checkpoints = %v, want those of iterations 2 and 4", checkpoints)
	}
	next := run.Resume(checkpoints[1])
	if err := next.Train(t.Context(), counter(6)); err != nil {
		t.Fatal(err)
	}
	if got := next.Metric("x"); len(got) != 2 || got[0] != 5 || next.T.Attempt != 2 {
		t.Errorf("attempt %d reported %v, want attempt 2 to report 5 and 6", next.T.Attempt, got)
	}
}

func TestStopBetweenResults(t *testing.T) {
	run := NewRun(t, sdk.TrainableTraits{}, `{}`)
	err := run.Train(t.Context(), sdk.TrainFunc(func(_ context.Context, r sdk.Run) error {
		run.Stop()
		<-r.(sdk.Stopper).Stopped()
		return r.Report(sdk.Result{}, nil)
	}))
	if err != nil || len(run.Results()) != 1 {
		t.Errorf("%d results, error %v; want one result and no error", len(run.Results()), err)
	}
}

func TestFailedSaveAndPanicAreErrors(t *testing.T) {
	run := NewRun(t, sdk.TrainableTraits{Saves: true}, `{}`)
	run.SaveEvery = 1
	full := errors.New("disk full")
	err := run.Train(t.Context(), sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
		return run.Report(sdk.Result{}, func(string) error { return full })
	}))
	if !errors.Is(err, full) {
		t.Errorf("error = %v, want that of the save", err)
	}
	err = run.Train(t.Context(), sdk.TrainFunc(func(context.Context, sdk.Run) error { panic("oh") }))
	if err == nil || !strings.Contains(err.Error(), "panic: oh") {
		t.Errorf("error = %v, want the panic", err)
	}
}

func TestComplains(t *testing.T) {
	save := func(string) error { return nil }
	metric := sdk.Metric{Name: "x"}
	for want, reports := range map[string][]sdk.Result{
		"after the trial was told to stop":           {{Iteration: 9}, {}},
		"after the result that was the last":         {{Done: true}, {}},
		"iteration 2 was reported after iteration 2": {{Iteration: 2}, {Iteration: 2}},
		`metric "x" has no name or occurs twice`:     {{Metrics: []sdk.Metric{metric, metric}}},
		`metric "" has no name`:                      {{Metrics: []sdk.Metric{{}}}},
	} {
		tb := &recorder{TB: t}
		run := NewRun(tb, sdk.TrainableTraits{Saves: true}, `{}`)
		run.StopAt = 9
		for _, r := range reports {
			_ = run.Report(r, save)
		}
		if len(tb.complaints) != 1 || !strings.Contains(tb.complaints[0], want) {
			t.Errorf("complaints = %q, want %q", tb.complaints, want)
		}
	}
}

func TestComplainsOfABrokenPromise(t *testing.T) {
	tb := &recorder{TB: t}
	_ = NewRun(tb, sdk.TrainableTraits{Saves: true}, `{}`).Report(sdk.Result{}, nil)
	if len(tb.complaints) != 1 || !strings.Contains(tb.complaints[0], "Saves is true") {
		t.Errorf("complaints = %q", tb.complaints)
	}
}
