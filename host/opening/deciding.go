package opening

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/consult/snapshots"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/layered"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Scheduler opens all schedulers as one, told of everything that it has answered.
func (o *Opener) Scheduler(ctx context.Context, h *Redelivery, through uint64,
	kept *snapshots.Snapshots) (plugin.Scheduler, error) {
	refs := o.Experiment.Schedulers()
	var traits sdk.Traits
	care := o.supervision(sdk.KindScheduler, o.Experiment.Scheduler, h, core.ToScheduler,
		func() sdk.Traits { return traits })
	care.Limit = func(c deadlines.Call) time.Duration { return o.longest(refs, c) }
	care.Through, care.Placed = through, placedIn(sdk.KindScheduler, refs...)
	care.Snapshot, care.SnapshotAt = kept.Newest(through)
	open := o.openScheduler
	if len(refs) > 1 {
		open = func(ctx context.Context, _ config.PluginRef, snapshot []byte) (plugin.Scheduler, error) {
			return o.openLayers(ctx, snapshot, through == 0)
		}
	}
	return plugin.SuperviseScheduler(ctx, care, func(ctx context.Context, snapshot []byte) (plugin.Scheduler, error) {
		s, err := open(ctx, o.Experiment.Scheduler, snapshot)
		if err == nil {
			traits = s.Traits()
		}
		return s, err
	})
}

// longest returns the deadline of a call that goes to several schedulers in turn.
func (o *Opener) longest(refs []config.PluginRef, c deadlines.Call) (all time.Duration) {
	for _, ref := range refs {
		limit := o.Limit(sdk.KindScheduler, ref, c)
		if limit == 0 {
			return 0
		}
		all += limit
	}
	return all
}

// openScheduler starts one scheduler.
func (o *Opener) openScheduler(ctx context.Context, ref config.PluginRef, snapshot []byte) (plugin.Scheduler, error) {
	p, err := o.Start(ctx, sdk.KindScheduler, ref, nil)
	if err != nil {
		return nil, err
	}
	s, err := Opened(ctx, o, sdk.KindScheduler, ref, deadlines.Open,
		func(ctx context.Context) (plugin.Scheduler, error) {
			return p.OpenScheduler(ctx, o.Problem(seeds.Scheduler), ref.Options, snapshot)
		})
	if err != nil {
		_ = p.Close()
		return nil, refused(ref, err)
	}
	return s, nil
}

// openLayers starts the scheduler, its base, and the plugin that only stops. first says that they have not decided
// anything yet: what an earlier program has accepted goes on.
func (o *Opener) openLayers(ctx context.Context, snapshot []byte, first bool) (plugin.Scheduler, error) {
	refs := o.Experiment.Schedulers()
	parts, err := layered.Parts(snapshot, len(refs))
	if err != nil {
		return nil, err
	}
	layers := make([]*layered.Layer, 0, len(refs))
	for i, ref := range refs {
		s, err := o.openScheduler(ctx, ref, parts.Plugin(i))
		if err == nil && first && o.stops(i) {
			if err = refused(ref, OnlyStops(ref, s.Traits())); err != nil {
				_ = s.Close()
			}
		}
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

// OnlyStops refuses a scheduler under stop that says of itself that it pauses trials or moves them to other
// checkpoints.
func OnlyStops(ref config.PluginRef, t sdk.Traits) error {
	if !t.Saves {
		return nil
	}
	return &plugin.Error{Plugin: title(sdk.KindScheduler, ref), Failure: plugin.Refused,
		What: "pauses trials or changes them, and under stop a plugin may only stop them: use it as the scheduler"}
}

// stops reports whether the i-th scheduler may only stop.
func (o *Opener) stops(i int) bool {
	return o.Experiment.Stop.Plugin != nil && i == len(o.Experiment.Schedulers())-1
}
