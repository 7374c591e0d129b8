package suite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// Driver talks to a trainer as a host does, one event at a time.
type Driver struct {
	T       *testing.T
	Trainer plugin.Trainer
	waiting []train.Event
}

// NewDriver opens the trainable with options.
func NewDriver(t *testing.T, start Start, options []byte) *Driver {
	t.Helper()
	trainer, err := start(t, sdk.KindTrainable).OpenTrainable(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return &Driver{T: t, Trainer: trainer}
}

// Send sends commands to a run.
func (d *Driver) Send(commands ...train.Command) {
	d.T.Helper()
	if err := d.Trainer.Send(commands); err != nil {
		d.T.Fatal(err)
	}
}

// Start starts a run.
func (d *Driver) Start(run uint64, params string, trial sdk.Trial) {
	d.T.Helper()
	trial.Params = []byte(params)
	d.Send(train.Command{Kind: train.Start, Run: run, Trial: &trial})
}

// Next returns the next event.
func (d *Driver) Next() train.Event {
	d.T.Helper()
	if len(d.waiting) == 0 {
		events, err := d.Trainer.Recv()
		if err != nil {
			d.T.Fatal(err)
		}
		d.waiting = append(d.waiting, events...)
	}
	e := d.waiting[0]
	d.waiting = d.waiting[1:]
	return e
}

// Want takes the next event, skipping logs, and checks it.
func (d *Driver) Want(kind train.EventKind, what string) train.Event {
	d.T.Helper()
	e := d.Next()
	for e.Kind == train.Log {
		e = d.Next()
	}
	text := fmt.Sprintf("run %d iteration %d %s%s", e.Run, e.Iteration, e.Error, e.Text)
	if e.Kind != kind || !strings.Contains(text, what) {
		d.T.Fatalf("got kind %d, %q; want kind %d, %q", e.Kind, text, kind, what)
	}
	return e
}

func (d *Driver) continues(run uint64, credits uint32) {
	d.Send(train.Command{Kind: train.Continue, Run: run, Credits: credits})
}

func runTrainable(t *testing.T, start Start) {
	for name, f := range map[string]func(*testing.T, Start){
		"train": trains, "train-ends": trainEnds, "train-stop": stops, "train-ahead": runsAhead,
		"train-checkpoint": checkpoints, "train-save": saves, "train-save-end": savesAtEnd,
		"train-hears-stop": hearsStop, "train-stop-save": stopsSaved,
		"train-request": requests,
		"train-kill":    kills, "train-reuse": reuses, "train-shared": shares, "train-close": closes,
	} {
		t.Run(name, func(t *testing.T) { f(t, start) })
	}
	t.Run("train-refuse", func(t *testing.T) {
		_, err := start(t, sdk.KindTrainable).OpenTrainable(t.Context(), Do("refuse"))
		wants(t, err, plugin.Refused, `trainable "probe" refused: no such data set`)
	})
}

// B-038
func requests(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("request"))
	if !d.Trainer.Traits().Requests {
		t.Fatal("its traits do not say that it computes requests")
	}
	got, err := d.Trainer.Request(t.Context(), []byte(`{"n": 3}`))
	if err != nil || string(got) != `{"cpu": 3}` {
		t.Fatalf("%s, %v", got, err)
	}
	_, err = d.Trainer.Request(t.Context(), []byte(`{"do": "panic"}`))
	wants(t, err, plugin.Failed, "Request", "no luck")
	if _, err := NewDriver(t, start, nil).Trainer.Request(t.Context(), []byte(`{}`)); err == nil {
		t.Error("a trainable that does not compute requests answered one")
	}
}

func trains(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	if want := (sdk.TrainableTraits{Saves: true}); d.Trainer.Traits() != want {
		t.Fatalf("traits %+v", d.Trainer.Traits())
	}
	d.Start(4, `{"n":2}`, sdk.Trial{ID: "abc"})
	if e := d.Want(train.Started, "run 4"); e.PID == 0 {
		t.Fatal("no process id")
	}
	if e := d.Next(); e.Kind != train.Log || e.Text != "training abc" {
		t.Fatalf("%+v", e)
	}
	e := d.Want(train.Result, "")
	if e.Done || len(e.Metrics) != 2 || e.Metrics[0] != (sdk.Metric{Name: "loss", Value: 1}) ||
		e.Metrics[1].Value == e.Metrics[1].Value {
		t.Fatalf("%+v", e)
	}
	d.continues(4, 1)
	if e := d.Want(train.Result, ""); !e.Done {
		t.Fatalf("%+v", e)
	}
	if e := d.Want(train.Ended, ""); e.Error != "" {
		t.Fatalf("%+v", e)
	}
}

func trainEnds(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("reusable"))
	for i, c := range []struct{ do, says string }{
		{"fail", "the loss is NaN"}, {"panic", "panic: no luck"},
		{"not started", "train.py: no such file"}, {"cannot restore", "bad magic"},
	} {
		d.Start(uint64(i), fmt.Sprintf(`{"do":%q}`, c.do), sdk.Trial{})
		d.Want(train.Started, "")
		e := d.Want(train.Ended, c.says)
		if e.NeverStarted != (c.do == "not started") || e.RestoreFailed != (c.do == "cannot restore") {
			t.Errorf("%s: %+v", c.do, e)
		}
	}
	d.Start(9, `{"do":"reject"}`, sdk.Trial{})
	d.Want(train.Started, "")
	d.Want(train.Rejected, "los=0.3")
	d.Want(train.Ended, "")
}

func stops(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"n":9,"do":"slow cleanup"}`, sdk.Trial{})
	d.Want(train.Started, "")
	d.Want(train.Result, "")
	d.Send(train.Command{Kind: train.Stop, Run: 1})
	if e := d.Want(train.Ended, ""); e.Error != "" {
		t.Fatalf("%+v", e)
	}
	d.Send(train.Command{Kind: train.Stop, Run: 1}) // sent at the same time as the end: nothing happens
}

// B-009
func runsAhead(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"n":100}`, sdk.Trial{RunAhead: 2})
	d.Want(train.Started, "")
	for range 3 {
		d.Want(train.Result, "")
	}
	// Nothing more comes before a decision: the checkpoint asked for now is of the third result.
	dir := t.TempDir()
	d.Send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
	d.Want(train.Saved, "iteration 3")
	d.continues(1, 2)
	d.Want(train.Result, "")
	d.Want(train.Result, "")
	d.Send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
	d.Want(train.Saved, "iteration 5")
	d.Send(train.Command{Kind: train.Stop, Run: 1})
	d.Want(train.Ended, "")
}

// B-009, B-011: a result with a due checkpoint waits, however many results were allowed.
func checkpoints(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"n":4}`, sdk.Trial{RunAhead: 8, CheckpointEvery: 2, Iteration: 10})
	d.Want(train.Started, "")
	d.Want(train.Result, "") // 11
	d.Want(train.Result, "") // 12: due
	dir := t.TempDir()
	d.continues(1, 1) // answers the first
	d.Send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
	d.Want(train.Saved, "iteration 12")
	files, err := filepath.Glob(dir + "/*") // SDKs give it different names
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if b, err := os.ReadFile(files[0]); err != nil || string(b) != "weights" {
		t.Fatal(string(b), err)
	}
	d.continues(1, 1)
	d.Want(train.Result, "") // 13
	d.Want(train.Result, "") // 14: due, and the last
	d.Send(train.Command{Kind: train.Save, Run: 1, Dir: dir})
	d.Want(train.Saved, "iteration 14")
	d.Want(train.Ended, "")
}

// B-058: the last result waits for its checkpoint and for nothing else.
func savesAtEnd(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("reusable"))
	d.Start(1, `{"n":1}`, sdk.Trial{CheckpointAtEnd: true})
	d.Want(train.Started, "")
	d.Want(train.Result, "")
	d.Send(train.Command{Kind: train.Save, Run: 1, Dir: t.TempDir()})
	d.Want(train.Saved, "iteration 1")
	d.Want(train.Ended, "")
	d.Start(2, `{"n":1,"do":"cannot save"}`, sdk.Trial{CheckpointAtEnd: true, CheckpointEvery: 1})
	d.Want(train.Started, "")
	d.Want(train.Result, "")
	d.Want(train.Ended, "")
}

// A trainable that does not report for a long time receives a stop nevertheless.
func hearsStop(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"do":"until stopped"}`, sdk.Trial{})
	d.Want(train.Started, "")
	d.Send(train.Command{Kind: train.Stop, Run: 1})
	d.Send(train.Command{Kind: train.Kill, Run: 1})
	d.Want(train.Ended, "")
}

func saves(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("reusable"))
	for i, c := range []struct{ do, says string }{
		{"fail to save", "disk full"}, {"panic to save", "panic in save: disk full"},
		{"cannot save", "iteration 1 was reported without"},
	} {
		run := uint64(i)
		d.Start(run, fmt.Sprintf(`{"n":3,"do":%q}`, c.do), sdk.Trial{})
		d.Want(train.Started, "")
		d.Want(train.Result, "")
		d.Send(train.Command{Kind: train.Save, Run: run, Dir: t.TempDir()})
		d.Want(train.Saved, c.says)
		d.Send(train.Command{Kind: train.Stop, Run: run})
		d.Want(train.Ended, "")
	}
}

func stopsSaved(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"n":9}`, sdk.Trial{})
	d.Want(train.Started, "")
	d.Want(train.Result, "")
	dir := t.TempDir()
	d.Send(train.Command{Kind: train.Stop, Run: 1, Dir: dir})
	if e := d.Want(train.Saved, "iteration 1"); e.Checkpoint != dir || e.Error != "" {
		t.Fatalf("%+v", e)
	}
	d.Want(train.Ended, "")
}

func kills(t *testing.T, start Start) {
	d := NewDriver(t, start, nil)
	d.Start(1, `{"do":"until killed"}`, sdk.Trial{})
	d.Want(train.Started, "")
	d.Send(train.Command{Kind: train.Kill, Run: 1})
	if e := d.Want(train.Ended, ""); e.Error != "" {
		t.Fatalf("%+v", e)
	}
}

// B-110
func reuses(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("reusable"))
	for run := range uint64(3) {
		d.Start(run, `{"n":1}`, sdk.Trial{})
		d.Want(train.Started, "")
		d.Want(train.Result, "")
		d.Want(train.Ended, "")
	}
	once := NewDriver(t, start, nil)
	once.Start(1, `{"n":0}`, sdk.Trial{})
	once.Want(train.Started, "")
	once.Want(train.Ended, "")
	once.Start(2, `{"n":0}`, sdk.Trial{})
	if e := once.Want(train.Ended, "cannot be reused"); !e.NeverStarted {
		t.Fatalf("%+v", e)
	}
}

func shares(t *testing.T, start Start) {
	d := NewDriver(t, start, Do("shared"))
	const runs = 5
	for run := range uint64(runs) {
		d.Start(run, `{"n":20}`, sdk.Trial{})
	}
	results, ended := [runs]int{}, 0
	for ended < runs {
		switch e := d.Next(); e.Kind {
		case train.Result:
			results[e.Run]++
			d.continues(e.Run, 1)
		case train.Ended:
			ended++
		}
	}
	if results != [runs]int{20, 20, 20, 20, 20} {
		t.Fatal(results)
	}
	alone := NewDriver(t, start, nil)
	alone.Start(1, `{"do":"until killed"}`, sdk.Trial{})
	alone.Want(train.Started, "")
	alone.Start(2, `{"n":0}`, sdk.Trial{})
	alone.Want(train.Ended, "run 2 iteration 0 the process already runs a trial")
}

func closes(t *testing.T, start Start) {
	p := start(t, sdk.KindTrainable)
	for name, closer := range map[string]func(d *Driver) error{
		"trainer": func(d *Driver) error { return d.Trainer.Close() },
		"plugin":  func(*Driver) error { return p.Close() },
	} {
		d := NewDriver(t, func(t *testing.T, k sdk.Kind) plugin.Plugin {
			if name == "plugin" {
				return p
			}
			return start(t, k)
		}, nil)
		d.Start(1, `{"do":"until killed"}`, sdk.Trial{})
		d.Want(train.Started, "")
		received := make(chan error)
		go func() { received <- drain(d.Trainer) }()
		if err := closer(d); err != nil {
			t.Fatal(err)
		}
		if err := <-received; !errors.Is(err, io.EOF) {
			t.Fatal(name, err)
		}
		if err := d.Trainer.Send(nil); err == nil {
			t.Fatal("sent to a closed trainer")
		}
	}
}

// drain receives until there is an error.
func drain(t plugin.Trainer) error {
	for {
		if _, err := t.Recv(); err != nil {
			return err
		}
	}
}
