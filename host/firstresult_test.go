package host

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// longFirst is a trainable whose first iteration lasts until it is told to end.
func longFirst(training chan<- struct{}) sdk.TrainablePlugin {
	var first sync.Once
	train := func(_ context.Context, run sdk.Run) error {
		from := run.Trial().Iteration
		for i := from; i < 3; i++ {
			if i == 0 {
				first.Do(func() {
					close(training)
					<-run.(sdk.Stopper).Stopped()
				})
			}
			save := func(dir string) error { return os.WriteFile(filepath.Join(dir, "state"), nil, 0o600) }
			result := sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: float64(i)}}, Done: i == 2}
			if err := run.Report(result, save); err != nil {
				return err
			}
		}
		return nil
	}
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "long", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(train), sdk.TrainableTraits{Saves: true}, nil
		},
	}
}

// B-058: a trial that is paused or interrupted during its first iteration saves that iteration, and goes on from there.
func TestFirstIterationIsSaved(t *testing.T) {
	for _, how := range []string{"interrupt", "pause"} {
		t.Run(how, func(t *testing.T) { setAsideEarly(t, how == "pause") })
	}
}

func setAsideEarly(t *testing.T, pause bool) {
	training, running := make(chan struct{}), make(chan Running, 1)
	o, seen := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: long}\n"+
		"space: {x: {uniform: [0, 1]}}\ntrials: 1\n", longFirst(training))
	o.OnStart = func(r Running) { running <- r }
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	done := begin(t, ctx, o)
	<-training
	if r := <-running; pause {
		if _, err := r.Steer.Do(steer.Pause{Trial: "0"}); err != nil {
			t.Fatal(err)
		}
		awaitPaused(t, r)
		if _, err := r.Steer.Do(steer.Unpause{Trial: "0"}); err != nil {
			t.Fatal(err)
		}
	} else {
		interrupt()
		<-done
		done = begin(t, t.Context(), o)
	}
	ended := <-done
	attempts, saved := 0, uint64(0)
	audit(t, ended.Dir, func(_ *core.Machine, e core.Event) {
		switch e := e.(type) {
		case *core.AttemptStarted:
			attempts++
		case *core.CheckpointSaved:
			saved = e.Iteration
		case *core.ResultReported:
			if attempts == 2 && e.Iteration == 1 {
				t.Error("the first iteration ran again")
			}
		}
	})
	if ended.Outcome != core.Finished || attempts != 2 || saved != 1 {
		t.Errorf("%v, %d attempts, saved iteration %d\n%s", ended.Outcome, attempts, saved, seen)
	}
}

func awaitPaused(t *testing.T, r Running) {
	for {
		s, err := r.View.Status(time.Now())
		switch {
		case err != nil:
			t.Fatal(err)
		case s.Counts[core.Paused] > 0:
			return
		}
		time.Sleep(time.Millisecond)
	}
}
