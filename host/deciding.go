package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/layered"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/snapshots"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// scheduler opens all that decides on trials as one scheduler, told of everything that
// it has answered.
func (o *opener) scheduler(ctx context.Context, h *retelling, through uint64, kept *snapshots.Snapshots) (plugin.Scheduler, error) {
	refs := o.experiment.Schedulers()
	var traits sdk.Traits
	care := o.supervision(sdk.KindScheduler, o.experiment.Scheduler, h, core.ToScheduler, func() sdk.Traits { return traits })
	care.Limit = func(c deadlines.Call) time.Duration { return o.longest(refs, c) }
	care.Through = through
	care.Snapshot, care.SnapshotAt = kept.Newest(through)
	open := o.openScheduler
	if len(refs) > 1 {
		open = o.openLayers
	}
	return plugin.SuperviseScheduler(ctx, care, func(ctx context.Context, snapshot []byte) (plugin.Scheduler, error) {
		s, err := open(ctx, o.experiment.Scheduler, snapshot)
		if err == nil {
			traits = s.Traits()
		}
		return s, err
	})
}

// longest is the deadline of a call that goes to several schedulers in turn.
func (o *opener) longest(refs []config.PluginRef, c deadlines.Call) (all time.Duration) {
	for _, ref := range refs {
		limit := o.limit(sdk.KindScheduler, ref, c)
		if limit == 0 {
			return 0
		}
		all += limit
	}
	return all
}

// openScheduler starts one scheduler.
func (o *opener) openScheduler(ctx context.Context, ref config.PluginRef, snapshot []byte) (plugin.Scheduler, error) {
	p, err := o.start(ctx, sdk.KindScheduler, ref, nil)
	if err != nil {
		return nil, err
	}
	s, err := opened(ctx, o, sdk.KindScheduler, ref, deadlines.Open, func(ctx context.Context) (plugin.Scheduler, error) {
		return p.OpenScheduler(ctx, o.problem(seeds.Scheduler), ref.Options, snapshot)
	})
	if err != nil {
		_ = p.Close()
		return nil, placed(ref, err)
	}
	return s, nil
}

// openLayers starts the scheduler, the one that it is put over, and what may only stop.
func (o *opener) openLayers(ctx context.Context, _ config.PluginRef, snapshot []byte) (plugin.Scheduler, error) {
	refs := o.experiment.Schedulers()
	parts, err := layered.Parts(snapshot, len(refs))
	if err != nil {
		return nil, err
	}
	layers := make([]*layered.Layer, 0, len(refs))
	for i, ref := range refs {
		s, err := o.openScheduler(ctx, ref, parts.Plugin(i))
		if err != nil {
			_ = layered.New(layers).Close()
			return nil, err
		}
		l := &layered.Layer{Name: fmt.Sprintf("scheduler %q", ref.Name), Scheduler: s, Stops: o.stops(i)}
		parts.Restore(i, l)
		layers = append(layers, l)
	}
	return layered.New(layers), nil
}

// stops says whether the i-th of the schedulers is there to stop alone.
func (o *opener) stops(i int) bool {
	return o.experiment.Stop.Plugin != nil && i == len(o.experiment.Schedulers())-1
}

// schedulerNames are for messages.
func schedulerNames(e *config.Experiment) string {
	var names []string
	for _, ref := range e.Schedulers() {
		names = append(names, ref.Name)
	}
	return strings.Join(names, " with ")
}
