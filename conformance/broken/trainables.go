package broken

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func trainables() []Plugin {
	return slices.Concat(trainablesOfRuns(), trainablesOfWires(), trainablesOfWords())
}

// run is an attempt whose reports are changed.
type run struct {
	sdk.Run
	trial  func(sdk.Trial) sdk.Trial
	report func(sdk.Run, sdk.Result, func(string) error) error
}

// Trial implements sdk.Run.
func (r run) Trial() sdk.Trial {
	if r.trial == nil {
		return r.Run.Trial()
	}
	return r.trial(r.Run.Trial())
}

// Report implements sdk.Run.
func (r run) Report(result sdk.Result, save func(string) error) error {
	if r.report == nil {
		return r.Run.Report(result, save)
	}
	return r.report(r.Run, result, save)
}

// trainer is the reference trainable with changed training.
type trainer struct {
	sdk.Trainable
	train func(context.Context, sdk.Trainable, sdk.Run) error
}

// Train implements sdk.Trainable.
func (t trainer) Train(ctx context.Context, r sdk.Run) error { return t.train(ctx, t.Trainable, r) }

func trainableThat(name string, train func(context.Context, sdk.Trainable, sdk.Run) error) Plugin {
	p := reference.Trainable
	p.Open = func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		t, traits, err := reference.Trainable.Open(options)
		return trainer{t, train}, traits, err
	}
	return Plugin{name, sdk.KindTrainable, value(p)}
}

// reporting changes the reports.
func reporting(name string, report func(sdk.Run, sdk.Result, func(string) error) error) Plugin {
	return trainableThat(name, func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
		return t.Train(ctx, run{Run: r, report: report})
	})
}

// withTrial changes the trial that the trainable receives.
func withTrial(name string, trial func(sdk.Trial) sdk.Trial) Plugin {
	return trainableThat(name, func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
		return t.Train(ctx, run{Run: r, trial: trial})
	})
}

func trainablesOfRuns() []Plugin {
	return slices.Concat(betweenRuns(), atTheEnd(), atResults())
}

// betweenRuns are wrong when another run follows, or continues from a checkpoint.
func betweenRuns() []Plugin {
	return []Plugin{
		withTrial("trainable-starts-from-scratch", func(t sdk.Trial) sdk.Trial {
			t.Restore = ""
			return t
		}),
		withTrial("trainable-forgets-its-seed", func(t sdk.Trial) sdk.Trial {
			if t.Restore != "" {
				t.Seed = 99
			}
			return t
		}),
		leaking("trainable-leaks-between-runs", func(runs uint64, t sdk.Trainable, ctx context.Context,
			r sdk.Run) error {
			return t.Train(ctx, run{Run: r, trial: func(trial sdk.Trial) sdk.Trial {
				trial.Seed += runs
				return trial
			}})
		}),
		leaking("trainable-cannot-be-reused-after-all",
			func(runs uint64, t sdk.Trainable, ctx context.Context, r sdk.Run) error {
				if runs > 0 {
					return errors.New("the session is closed")
				}
				return t.Train(ctx, r)
			}),
		leaking("trainable-loses-an-end", func(runs uint64, t sdk.Trainable, ctx context.Context, r sdk.Run) error {
			err := t.Train(ctx, r)
			if runs == 50 { // like a listener that has died
				<-ctx.Done()
			}
			return err
		}),
	}
}

// atTheEnd are wrong when a run ends.
func atTheEnd() []Plugin {
	return []Plugin{
		trainableThat("trainable-will-not-stop", func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
			err := t.Train(ctx, r)
			if errors.Is(err, sdk.ErrStopped) {
				<-ctx.Done()
			}
			return err
		}),
		trainableThat("trainable-fails-when-stopped", func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
			if err := t.Train(ctx, r); err != nil {
				return errors.New("KeyboardInterrupt")
			}
			return nil
		}),
		trainableThat("trainable-hides-why-it-cannot-restore",
			func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
				err := t.Train(ctx, r)
				if _, ok := errors.AsType[*sdk.RestoreError](err); ok {
					return errors.New(err.Error())
				}
				return err
			}),
		trainableThat("trainable-fails-in-many-lines", func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
			if len(r.Trial().Params) > 10 {
				return fmt.Errorf("traceback (most recent call last):\n  %d bytes of parameters", len(r.Trial().Params))
			}
			return t.Train(ctx, r)
		}),
	}
}

// atResults report or save wrongly.
func atResults() []Plugin {
	return []Plugin{
		reporting("trainable-counts-in-place", func(r sdk.Run, result sdk.Result, save func(string) error) error {
			result.Iteration = 1
			return r.Report(result, save)
		}),
		reporting("trainable-reports-nothing", func(r sdk.Run, result sdk.Result, save func(string) error) error {
			result.Metrics = nil
			return r.Report(result, save)
		}),
		reporting("trainable-names-a-metric-twice", func(r sdk.Run, result sdk.Result, save func(string) error) error {
			result.Metrics = append(result.Metrics, result.Metrics[0])
			return r.Report(result, save)
		}),
		reporting("trainable-saves-nothing", func(r sdk.Run, result sdk.Result, _ func(string) error) error {
			return r.Report(result, func(string) error { return nil })
		}),
		reporting("trainable-saves-half", func(r sdk.Run, result sdk.Result, save func(string) error) error {
			return r.Report(result, func(dir string) error {
				if err := save(dir); err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(dir, "walk.json"), []byte(`{"Step": `), 0o600)
			})
		}),
		reporting("trainable-cannot-save-after-all", func(r sdk.Run, result sdk.Result, _ func(string) error) error {
			return r.Report(result, func(string) error { return errors.New("not implemented") })
		}),
	}
}

// leaking changes the runs after the first ones of a process.
func leaking(name string, train func(runs uint64, t sdk.Trainable, ctx context.Context, r sdk.Run) error) Plugin {
	p := reference.Trainable
	p.Open = func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		var runs atomic.Uint64
		t, traits, err := reference.Trainable.Open(options)
		return trainer{t, func(ctx context.Context, t sdk.Trainable, r sdk.Run) error {
			return train(runs.Add(1)-1, t, ctx, r)
		}}, traits, err
	}
	return Plugin{name, sdk.KindTrainable, value(p)}
}

// wire is a plugin whose messages are changed.
type wire struct {
	plugin.Plugin
	send func([]train.Command) []train.Command
	recv func(*train.Event)
}

// OpenTrainable implements plugin.Opener.
func (w wire) OpenTrainable(ctx context.Context, options []byte) (plugin.Trainer, error) {
	t, err := w.Plugin.OpenTrainable(ctx, options)
	if err != nil {
		return nil, err
	}
	return wired{t, w}, nil
}

type wired struct {
	plugin.Trainer
	wire wire
}

// Send implements plugin.Trainer.
func (w wired) Send(commands []train.Command) error {
	if w.wire.send != nil {
		commands = w.wire.send(slices.Clone(commands))
	}
	return w.Trainer.Send(commands)
}

// Recv implements plugin.Trainer.
func (w wired) Recv() ([]train.Event, error) {
	events, err := w.Trainer.Recv()
	events = slices.Clone(events)
	if w.wire.recv != nil {
		for i := range events {
			w.wire.recv(&events[i])
		}
	}
	return events, err
}

func wiredAs(name string, send func([]train.Command) []train.Command, recv func(*train.Event)) Plugin {
	return Plugin{name, sdk.KindTrainable, func(context.Context) (plugin.Plugin, error) {
		p, err := inproc.New(reference.Trainable)
		return wire{p, send, recv}, err
	}}
}

// received changes events of a kind.
func received(name string, kind train.EventKind, change func(*train.Event)) Plugin {
	return wiredAs(name, nil, func(e *train.Event) {
		if e.Kind == kind {
			change(e)
		}
	})
}

func trainablesOfWires() []Plugin {
	return []Plugin{
		{"trainable-runs-ahead", sdk.KindTrainable, runsAhead},
		wiredAs("trainable-forgets-saves", func(commands []train.Command) []train.Command {
			return slices.DeleteFunc(commands, func(c train.Command) bool { return c.Kind == train.Save })
		}, nil),
		received("trainable-saves-another-iteration", train.Saved, func(e *train.Event) { e.Iteration++ }),
		received("trainable-saves-elsewhere", train.Saved, func(e *train.Event) { e.Checkpoint += "-latest" }),
		received("trainable-without-a-process", train.Started, func(e *train.Event) { e.PID = 0 }),
		received("trainable-mixes-up-runs", train.Ended, func(e *train.Event) { e.Run++ }),
	}
}

// early is a trainable that continues after its first two results without an answer, except if the
// last one must be saved: then it would be uncertain whether it or the host is faster.
type early struct {
	plugin.Trainer
	held []train.Event
	out  atomic.Bool // nothing is held back any more
}

func runsAhead(context.Context) (plugin.Plugin, error) {
	p, err := inproc.New(reference.Trainable)
	return earlyPlugin{p}, err
}

type earlyPlugin struct{ plugin.Plugin }

// OpenTrainable implements plugin.Opener.
func (p earlyPlugin) OpenTrainable(ctx context.Context, options []byte) (plugin.Trainer, error) {
	t, err := p.Plugin.OpenTrainable(ctx, options)
	return &early{Trainer: t}, err
}

// Send implements plugin.Trainer.
func (e *early) Send(commands []train.Command) error {
	for _, c := range slices.Clone(commands) {
		switch {
		case c.Kind != train.Start:
		case c.Trial.CheckpointAtEnd:
			e.out.Store(true)
		default:
			commands = append(commands, train.Command{Kind: train.Continue, Run: c.Run, Credits: 2})
		}
	}
	return e.Trainer.Send(commands)
}

// Recv holds events back until the first three results exist, so that the observation does not
// depend on speed.
func (e *early) Recv() ([]train.Event, error) {
	for {
		events, err := e.Trainer.Recv()
		e.held = append(e.held, events...)
		if e.out.Load() || err != nil || ready(e.held) {
			e.out.Store(true)
			out := e.held
			e.held = nil
			return out, err
		}
	}
}

func ready(events []train.Event) bool {
	results := 0
	for _, e := range events {
		if e.Kind == train.Ended {
			return true
		}
		if e.Kind == train.Result {
			results++
		}
	}
	return results >= 3
}

func trainablesOfWords() []Plugin {
	var requests atomic.Int64
	lenient := reference.Trainable
	lenient.Open = func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return reference.Trainable.Open([]byte("{}"))
	}
	return []Plugin{
		{"trainable-takes-any-options", sdk.KindTrainable, value(lenient)},
		{"trainable-asks-for-more-each-time", sdk.KindTrainable,
			value(asking(func() string { return fmt.Sprintf(`{"cpu": %d}`, requests.Add(1)) }))},
		{"trainable-asks-for-nonsense", sdk.KindTrainable, value(asking(func() string { return `["cpu"]` }))},
	}
}

// changedRequest computes requests in another way.
type changedRequest struct {
	sdk.Trainable
	ask func() string
}

// Request implements sdk.Requester.
func (g changedRequest) Request([]byte) ([]byte, error) { return []byte(g.ask()), nil }

func asking(ask func() string) sdk.TrainablePlugin {
	p := reference.Trainable
	p.Open = func(options []byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		t, traits, err := reference.Trainable.Open(options)
		return changedRequest{t, ask}, traits, err
	}
	return p
}
