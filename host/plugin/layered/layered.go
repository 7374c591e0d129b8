// Package layered combines schedulers that decide on the same trials into one: a scheduler over
// another (scheduler.base), and stoppers beside it (stop.plugin).
//
// Each layer receives events as if it were the only scheduler. It receives only the results that it
// wants to decide on. The strongest verdict on a result counts. If several layers have paused a trial,
// it continues when the last of them resumes it.
//
// Package host opens and supervises all layers as one scheduler.
package layered

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Layer is one of the schedulers.
type Layer struct {
	// Name is for messages: `scheduler "asha"`.
	Name string
	plugin.Scheduler
	// Stops says that the layer may only end trials, one or all.
	Stops bool

	state
}

// Scheduler is all layers together.
type Scheduler struct{ layers []*Layer }

// New combines opened schedulers, at least one. If verdicts are equally strong, the verdict of the
// earliest layer counts.
func New(layers []*Layer) *Scheduler { return &Scheduler{layers} }

// Decide asks each layer in turn.
func (s *Scheduler) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	m := newMerge(events)
	orders := make([][]sdk.Command, len(s.layers))
	for i, l := range s.layers {
		answer, err := l.ask(ctx, events)
		if err != nil {
			return sdk.Decisions{}, fmt.Errorf("%s: %w", l.Name, err)
		}
		m.decisions(l, answer.Decisions)
		orders[i] = answer.Commands
	}
	for i := range m.merged {
		d := &m.merged[i]
		d.Until = s.until(m.trials[i], d.Verdict)
	}
	// A trial may be resumed only after every layer has said whether it pauses the trial.
	for i, l := range s.layers {
		m.commands = append(m.commands, s.commands(l, orders[i])...)
	}
	return sdk.Decisions{Decisions: m.merged, Commands: m.commands}, nil
}

// ask lets a layer decide on the events that it wants.
func (l *Layer) ask(ctx context.Context, events []sdk.Event) (answer sdk.Decisions, err error) {
	heard := l.receive(events)
	if len(heard) == 0 {
		return answer, nil
	}
	if answer, err = l.Scheduler.Decide(ctx, heard); err != nil {
		return answer, err
	}
	return answer, l.refuseOrders(answer)
}

// refuseOrders returns an error if a stopper has done anything except stopping trials.
func (l *Layer) refuseOrders(answer sdk.Decisions) error {
	if !l.Stops {
		return nil
	}
	for _, d := range answer.Decisions {
		if d.Verdict == sdk.Pause {
			return errors.New("it paused a trial, but under stop it may only stop; use it as the scheduler")
		}
	}
	for _, c := range answer.Commands {
		if c.Kind != sdk.StopTrial && c.Kind != sdk.StopAll {
			return errors.New("it sent a command other than a stop, but under stop it may only stop; use it as " +
				"the scheduler")
		}
	}
	return nil
}

// until returns the first iteration that any layer wants to decide on.
func (s *Scheduler) until(trial uint32, v sdk.Verdict) uint64 {
	if v != sdk.Continue {
		return 0
	}
	first := uint64(math.MaxUint64)
	for _, l := range s.layers {
		if !l.Traits().Quiet {
			first = min(first, l.Until[trial])
		}
	}
	return first
}

// commands passes on a layer's commands. A trial that another layer keeps paused stays paused.
func (s *Scheduler) commands(l *Layer, list []sdk.Command) (out []sdk.Command) {
	for _, c := range list {
		if c.Kind == sdk.Resume || c.Kind == sdk.Exploit {
			delete(l.Holds, c.Trial)
		}
		keeps := func(other *Layer) bool { return other.Holds[c.Trial] }
		if c.Kind == sdk.Resume && slices.ContainsFunc(s.layers, keeps) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// Traits returns the traits that hold for all layers.
func (s *Scheduler) Traits() sdk.Traits {
	all := s.layers[0].Traits()
	for _, l := range s.layers[1:] {
		all = both(all, l.Traits())
	}
	return all
}

// both combines the traits of two layers; a quiet layer does not limit how far trials run ahead.
func both(a, b sdk.Traits) sdk.Traits {
	ahead := min(a.RunAhead, b.RunAhead)
	if a.Quiet {
		ahead = b.RunAhead
	} else if b.Quiet {
		ahead = a.RunAhead
	}
	return sdk.Traits{Quiet: a.Quiet && b.Quiet, RunAhead: ahead, Metrics: a.Metrics || b.Metrics,
		Saves: a.Saves || b.Saves, Again: a.Again || b.Again, Requires: slices.Concat(a.Requires, b.Requires)}
}

// Close ends all layers.
func (s *Scheduler) Close() error {
	var errs []error
	for _, l := range s.layers {
		errs = append(errs, l.Scheduler.Close())
	}
	return errors.Join(errs...)
}
