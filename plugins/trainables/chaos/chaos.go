package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Plugin is the trainable to be served.
var Plugin = New(Process{})

// New returns the trainable with a substitute for the process, for tests that run it in their own
// process.
func New(p Process) sdk.TrainablePlugin {
	return sdk.TrainablePlugin{
		Info: sdk.Info{
			Kind:    sdk.KindTrainable,
			Name:    "chaos",
			Version: "1.0.0",
			Summary: "Crashes, hangs and reports invalid results on request, to test hosts and experiment files;" +
				" trains " +
				"nothing.",
			Options: declaredOptions.Schema(),
		},
		Open: func(object []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			o, err := parseOptions(object)
			if err != nil {
				return nil, sdk.TrainableTraits{}, err
			}
			traits := sdk.TrainableTraits{Reusable: o.Reusable, Shared: o.Shared, Saves: o.Saves}
			return &trainable{options: o, process: p.orReal()}, traits, nil
		},
		Check: func(object, params []byte) error {
			o, err := parseOptions(object)
			if err == nil {
				_, err = o.with(params)
			}
			return err
		},
	}
}

type trainable struct {
	options options
	process Process
}

// Train misbehaves according to the options and the trial's parameters.
func (t *trainable) Train(ctx context.Context, run sdk.Run) error {
	trial := run.Trial()
	k, err := t.options.with(trial.Params)
	if err != nil {
		return err
	}
	a := &attempt{ctx: ctx, run: run, trial: trial, knobs: k, process: t.process, saves: t.options.Saves}
	memory := fill(k.MemoryMB)
	defer runtime.KeepAlive(memory)
	err = a.train()
	if errors.Is(err, sdk.ErrStopped) {
		a.linger()
	}
	return err
}

// An attempt is one attempt of one trial.
type attempt struct {
	knobs
	ctx     context.Context
	run     sdk.Run
	trial   sdk.Trial
	process Process
	saves   bool
}

func (a *attempt) train() error {
	from, err := a.restore()
	if err != nil {
		return err
	}
	if a.IgnoreTerm {
		a.process.IgnoreTerm()
	}
	if err := a.fork(); err != nil {
		return err
	}
	if err := a.pause(a.StartDelay); err != nil {
		return err
	}
	for i := from + 1; i <= a.Iterations; i++ {
		if err := a.iterate(i); err != nil {
			return err
		}
	}
	return nil
}

func (a *attempt) iterate(i uint64) error {
	if err := a.pause(a.Sleep); err != nil {
		return err
	}
	a.floodOutput(i)
	if err := a.injectFault(i); err != nil {
		return err
	}
	if a.NeverReport {
		return a.stopError()
	}
	r, err := a.result(i)
	if err != nil {
		return err
	}
	if !a.saves {
		return a.run.Report(r, nil)
	}
	return a.run.Report(r, func(dir string) error { return a.save(dir, i) })
}

// pause returns early if the trial was told to stop. If there is nothing to wait for, Report
// detects the stop, because it may request a checkpoint first.
func (a *attempt) pause(seconds float64) error {
	if seconds == 0 {
		return a.cancelled()
	}
	timer := time.NewTimer(duration(seconds))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-a.stopped():
		return sdk.ErrStopped
	case <-a.ctx.Done():
		return a.cancelled()
	}
}

// stopError returns an error if the trial was told to stop.
func (a *attempt) stopError() error {
	select {
	case <-a.stopped():
		return sdk.ErrStopped
	default:
		return a.cancelled()
	}
}

// stopped returns nil, which never closes, if the Run cannot signal a stop.
func (a *attempt) stopped() <-chan struct{} {
	if s, ok := a.run.(sdk.Stopper); ok {
		return s.Stopped()
	}
	return nil
}

func (a *attempt) cancelled() error {
	if a.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", sdk.ErrStopped, context.Cause(a.ctx))
}

// linger implements the behaviour after a stop.
func (a *attempt) linger() {
	if a.IgnoreTerm {
		a.process.Block()
		return
	}
	select {
	case <-time.After(duration(a.StopDelay)):
	case <-a.ctx.Done():
	}
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

// checkpointFile holds the iteration, in decimal.
const checkpointFile = "iteration"

func (a *attempt) save(dir string, i uint64) error {
	if err := a.slowly(); err != nil {
		return err
	}
	if a.SaveFails {
		return errors.New("chaos: save_fails is on")
	}
	return os.WriteFile(filepath.Join(dir, checkpointFile), strconv.AppendUint(nil, i, 10), 0o600)
}

// slowly waits for save_delay. A save continues when the trial is told to stop.
func (a *attempt) slowly() error {
	select {
	case <-time.After(duration(a.SaveDelay)):
		return nil
	case <-a.ctx.Done():
		return a.cancelled()
	}
}

// restore returns the iteration to continue from.
func (a *attempt) restore() (uint64, error) {
	if a.trial.Restore == "" {
		return 0, nil
	}
	if a.RestoreFails {
		return 0, &sdk.RestoreError{Err: errors.New("chaos: restore_fails is on")}
	}
	text, err := os.ReadFile(filepath.Join(a.trial.Restore, checkpointFile))
	if err != nil {
		return 0, &sdk.RestoreError{Err: err}
	}
	i, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0, &sdk.RestoreError{Err: err}
	}
	return i, nil
}
