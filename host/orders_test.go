package host

import (
	"context"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

const ordered = `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: saves}
space: {x: {uniform: [0, 1]}}
scheduler: strange
seed: 5
trials: 2
resources: {cpu: 1}
`

// slowSaves is a trainable whose trial 0 saves its checkpoint until trial 1 has the answer to its second result.
func slowSaves() sdk.TrainablePlugin {
	saving, answered := make(chan struct{}), make(chan struct{})
	first := func(run sdk.Run) error {
		return run.Report(score(1), func(string) error {
			close(saving)
			<-answered
			return nil
		})
	}
	second := func(run sdk.Run) error {
		if err := run.Report(score(2), nil); err != nil {
			return err
		}
		<-saving
		err := run.Report(score(3), nil)
		close(answered)
		return err
	}
	return sdk.TrainablePlugin{
		Info: sdk.Info{Name: "saves", Version: "1", Options: noOptions},
		Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return sdk.TrainFunc(func(_ context.Context, run sdk.Run) error {
				if run.Trial().Number == 0 {
					return first(run)
				}
				return second(run)
			}), sdk.TrainableTraits{Shared: true, Reusable: true, Saves: true}, nil
		},
	}
}

// B-020: a scheduler ends a trial while it saves its checkpoint for the pause that the scheduler has decided.
func TestStopWhileItSaves(t *testing.T) {
	scheduler := schedulerOf(onResults(func(e sdk.Event) (d []sdk.Decision, c []sdk.Command) {
		switch {
		case e.Trial == 0:
			d = []sdk.Decision{{Event: e.Number, Verdict: sdk.Pause, Reason: "it waits"}}
		case e.Iteration == 2:
			c = []sdk.Command{{Kind: sdk.StopTrial, Trial: 0, Reason: "worse than trial 1"}}
		}
		return d, c
	}))
	o, _ := quick(t, ordered, slowSaves(), scheduler)
	o.Resources = "(cpu=2)"
	ended := finish(t, o)
	m := audit(t, ended.Dir, nil)
	v := m.View(0)
	if ended.Outcome != core.Finished || v.State != core.Terminated || v.Reason() != "worse than trial 1" {
		t.Errorf("%+v; trial 0 is %s: %s", ended, v.State, v.Reason())
	}
}
