package host

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/compose/live"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// impatient is the machine's clock, but for live.QuietEnd, which is over at once and once.
type impatient struct {
	clock.System
	once *sync.Once
}

func (c impatient) AfterFunc(d time.Duration, f func()) func() bool {
	if d == live.QuietEnd {
		c.once.Do(func() { go f() })
		return func() bool { return true }
	}
	return c.System.AfterFunc(d, f)
}

// B-024: who interrupts a host whose trial takes long to save a checkpoint is told that it waits
// for that.
func TestInterruptedWhileItSaves(t *testing.T) {
	reported, free := make(chan struct{}), make(chan struct{})
	var first sync.Once
	slow := sdk.TrainablePlugin{
		Info: sdk.Info{Name: "slow", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				for {
					err := run.Report(sdk.Result{Metrics: []sdk.Metric{{Name: "score", Value: 1}}}, func(string) error {
						<-free
						return nil
					})
					if err != nil {
						return err
					}
					first.Do(func() { close(reported) })
				}
			}), sdk.TrainableTraits{Saves: true}, nil
		},
	}
	o, seen := quick(t, "version: 1\nobjective: {metric: score, mode: max}\ntrainable: {plugin: slow}\n"+
		"space: {x: {uniform: [0, 1]}}\n", slow)
	o.Verbose, o.Clock = 1, impatient{once: &sync.Once{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := begin(t, ctx, o)
	<-reported
	cancel()
	seen.Await(t, "the host waits for its trials: trial 0 (")
	close(free)
	if ended := <-done; ended.Outcome != core.InterruptedByUser {
		t.Errorf("%+v", ended)
	}
	contains(t, seen.String(), ") saves a checkpoint; Ctrl-C again kills them now")
}
