package js_test

import (
	"errors"
	"io"
	"math"
	"os"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// A driver talks to a trainable as the host does.
type driver struct {
	*testing.T
	trainer plugin.Trainer
	process *process.Process
	waiting []train.Event
}

func openTrainable(t *testing.T, file, options string) *driver {
	t.Helper()
	p := start(t, program(t, sdk.KindTrainable, file))
	trainer, err := p.OpenTrainable(t.Context(), []byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return &driver{T: t, trainer: trainer, process: p}
}

func (d *driver) send(commands ...train.Command) {
	d.Helper()
	if err := d.trainer.Send(commands); err != nil {
		d.Fatal(err)
	}
}

func (d *driver) start(run uint64, trial sdk.Trial) {
	d.Helper()
	if trial.Params == nil {
		trial.Params = []byte(`{"lr": 0.001, "momentum": 0.5}`)
	}
	d.send(train.Command{Kind: train.Start, Run: run, Trial: &trial})
	if e := d.next(); e.Kind != train.Started || e.Run != run || int(e.PID) != d.process.PID() {
		d.Fatalf("%+v, want that run %d has started in process %d", e, run, d.process.PID())
	}
}

func (d *driver) grant(run uint64, credits uint32) {
	d.Helper()
	d.send(train.Command{Kind: train.Continue, Run: run, Credits: credits})
}

// next returns the next event that is not a log line.
func (d *driver) next() train.Event {
	d.Helper()
	for {
		for len(d.waiting) == 0 {
			events, err := d.trainer.Recv()
			if err != nil {
				d.Fatal(err)
			}
			d.waiting = append(d.waiting, events...)
		}
		e := d.waiting[0]
		d.waiting = d.waiting[1:]
		if e.Kind != train.Log {
			return e
		}
		d.Log(e.Text)
	}
}

// want returns the next event, which must have the kind and run.
func (d *driver) want(kind train.EventKind, run uint64) train.Event {
	d.Helper()
	e := d.next()
	if e.Kind != kind || e.Run != run {
		d.Fatalf("got %+v, want kind %d of run %d", e, kind, run)
	}
	return e
}

func (d *driver) wantLoss(run, iteration uint64) float64 {
	d.Helper()
	e := d.want(train.Result, run)
	if e.Iteration != iteration || len(e.Metrics) != 1 || e.Metrics[0].Name != "loss" {
		d.Fatalf("%+v, want the loss of iteration %d", e, iteration)
	}
	return e.Metrics[0].Value
}

func (d *driver) wantEnd(run uint64) {
	d.Helper()
	if e := d.want(train.Ended, run); e.Error != "" {
		d.Fatalf("it ended with %q", e.Error)
	}
}

// losses trains a whole trial and returns its losses.
func (d *driver) losses(run uint64, trial sdk.Trial, epochs uint64) (losses []float64) {
	d.Helper()
	d.start(run, trial)
	for i := trial.Iteration + 1; i <= epochs; i++ {
		losses = append(losses, d.wantLoss(run, i))
		d.grant(run, 1)
	}
	d.wantEnd(run)
	return losses
}

func TestDescent(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent.js", `{"epochs": 6}`)
	if traits := d.trainer.Traits(); traits != (sdk.TrainableTraits{Reusable: true, Shared: true}) {
		t.Errorf("%+v", traits)
	}
	one := d.losses(1, sdk.Trial{Seed: math.MaxUint64}, 6)
	again := d.losses(math.MaxUint64, sdk.Trial{Seed: math.MaxUint64}, 6)
	other := d.losses(3, sdk.Trial{Seed: math.MaxUint64 - 1}, 6)
	for i := range one {
		if one[i] != again[i] || one[i] == other[i] {
			t.Errorf("epoch %d: %v with one seed, %v with it again, %v with another", i+1, one[i], again[i], other[i])
		}
	}
}

// TestPauseAndResume checks that a paused trial continues with the same losses.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent-resumable.js", `{"epochs": 8}`)
	trial := sdk.Trial{Seed: 7, Params: []byte(`{"lr": 0.002, "momentum": 0.9}`)}
	whole := d.losses(1, trial, 8)

	d.start(2, trial)
	early, dir := t.TempDir(), t.TempDir()
	d.wantLoss(2, 1)
	d.send(train.Command{Kind: train.Save, Run: 2, Dir: early})
	if e := d.want(train.Saved, 2); e.Error != "" || e.Iteration != 1 || e.Checkpoint != early {
		t.Fatalf("%+v", e)
	}
	d.grant(2, 1)
	for i := range uint64(2) {
		d.wantLoss(2, 2+i)
		d.grant(2, 1)
	}
	d.wantLoss(2, 4)
	d.send(train.Command{Kind: train.Stop, Run: 2, Dir: dir})
	if e := d.want(train.Saved, 2); e.Error != "" || e.Iteration != 4 || e.Checkpoint != dir {
		t.Fatalf("%+v", e)
	}
	d.wantEnd(2)

	trial.Restore, trial.Iteration, trial.Attempt = dir, 4, 2
	for i, loss := range d.losses(3, trial, 8) {
		if loss != whole[4+i] {
			t.Errorf("epoch %d: loss %v after the pause, %v without", 5+i, loss, whole[4+i])
		}
	}
}

func TestBadCheckpoint(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent-resumable.js", `{}`)
	d.start(1, sdk.Trial{Restore: t.TempDir(), Iteration: 3})
	if e := d.want(train.Ended, 1); !e.RestoreFailed || e.Error == "" {
		t.Errorf("%+v", e)
	}
}

// B-009
func TestDueResultsWait(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent-resumable.js", `{"epochs": 4}`)
	d.start(1, sdk.Trial{CheckpointEvery: 2, RunAhead: 10, CheckpointAtEnd: true})
	d.wantLoss(1, 1)
	d.wantLoss(1, 2) // waits until it is answered, whatever it may run ahead
	dir := t.TempDir()
	d.send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
	if e := d.want(train.Saved, 1); e.Iteration != 2 {
		t.Fatalf("%+v", e)
	}
	d.grant(1, 2)
	d.wantLoss(1, 3)
	d.wantLoss(1, 4) // the last one must be saved as well
	d.send(train.Command{Kind: train.Save, Run: 1, Dir: t.TempDir()})
	if e := d.want(train.Saved, 1); e.Iteration != 4 {
		t.Fatalf("%+v", e)
	}
	d.wantEnd(1)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

func TestStopAndKill(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent.js", `{"epochs": 1000000}`)
	for run, kind := range []train.CommandKind{train.Stop, train.Kill} {
		d.start(uint64(run), sdk.Trial{})
		d.wantLoss(uint64(run), 1)
		d.send(train.Command{Kind: kind, Run: uint64(run)})
		d.wantEnd(uint64(run))
	}
	d.start(9, sdk.Trial{RunAhead: 1 << 20}) // it never waits, and must still receive the stop
	d.wantLoss(9, 1)
	d.send(train.Command{Kind: train.Stop, Run: 9})
	for e := d.next(); e.Kind != train.Ended; e = d.next() {
		if e.Kind != train.Result {
			t.Fatalf("%+v", e)
		}
	}
}

// TestShared checks many runs at a time.
func TestShared(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent.js", `{"epochs": 5}`)
	var all []train.Command
	for run := range uint64(50) {
		all = append(all, train.Command{Kind: train.Start, Run: run, Trial: &sdk.Trial{Params: []byte(`{}`)}},
			train.Command{Kind: train.Continue, Run: run, Credits: 5})
	}
	d.send(all...)
	results, ends := 0, 0
	for ends < 50 {
		switch e := d.next(); e.Kind {
		case train.Result:
			results++
		case train.Ended:
			ends++
		}
	}
	if results != 250 {
		t.Errorf("%d results of 250", results)
	}
}

// TestEndOfStream checks that closing the stream ends all runs.
func TestEndOfStream(t *testing.T) {
	t.Parallel()
	d := openTrainable(t, "samples/descent.js", `{"epochs": 1000000}`)
	d.start(1, sdk.Trial{})
	d.wantLoss(1, 1)
	if err := d.trainer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.trainer.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if alive(d.process.PID()) {
		t.Error("it still runs")
	}
}

// Hundreds of trials that end immediately (B-110).
func TestCrowd(t *testing.T) {
	for _, name := range []string{"descent.js", "descent-resumable.js"} {
		t.Run(name, func(t *testing.T) {
			hosttest.Crowd(t, program(t, sdk.KindTrainable, "samples/"+name).Args[0])
		})
	}
}
