package publish

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

// notePeriod is how often the host notes what a reporter has received.
const notePeriod = 2 * time.Second

// PluginReporter is a reporter plugin that is kept alive: after a failure it is opened again and says which
// events it has. It is a Reportee.
type PluginReporter struct {
	Title string // as `"NAME"`
	// Open opens it; told is the last event that it received.
	Open  func(ctx context.Context, told uint64) (plugin.Reporter, error)
	Log   *hostlog.Log
	Clock clock.Clock
	Limit time.Duration // of one call of Report
	File  string        // has the number of the last event that it received

	current  plugin.Reporter
	recent   plugin.RecentFailures
	failures int // failures since it last took an event
	told     uint64
	noted    uint64
	noteAt   time.Time
	closing  sync.Once
}

// Begin opens it for the first time. The user must correct what it refuses; after any other failure it
// is given up, as after a later one.
func (r *PluginReporter) Begin(ctx context.Context) error {
	r.told = readNumber(r.File)
	r.noted = r.told
	err := r.reopen(ctx)
	if f := plugin.FailureOf(err); err == nil || f == plugin.Refused || f == plugin.NotStarted || f == 0 {
		return err
	}
	if _, err := r.Revive(ctx, err); err != nil {
		r.Log.Warn("reporter " + r.Title + " receives nothing, and the experiment continues without it: " + err.Error())
	}
	return nil
}

// After returns the last event that it has; false: it was given up at its beginning.
func (r *PluginReporter) After() (uint64, bool) {
	if r.current == nil {
		return 0, false
	}
	return r.current.After(), true
}

func (r *PluginReporter) reopen(ctx context.Context) error {
	p, err := r.Open(ctx, r.told)
	if err == nil {
		r.current = p
	}
	return err
}

// Report implements Reportee.
func (r *PluginReporter) Report(ctx context.Context, events []view.Event) error {
	ctx, cancel := deadlines.Within(ctx, r.Limit)
	defer cancel()
	if err := r.current.Report(ctx, Reported(events)); err != nil {
		return err
	}
	r.told, r.failures = events[len(events)-1].Number, 0
	if now := r.Clock.Now(); now.After(r.noteAt) {
		r.noteAt = now.Add(notePeriod)
		return r.note()
	}
	return nil
}

// Revive implements Reportee. Failures in a row count over any time, since a hang takes long.
func (r *PluginReporter) Revive(ctx context.Context, failure error) (uint64, error) {
	for {
		r.drop()
		r.failures++
		if out := r.recent.TooMany(r.Clock.Now()); out || r.failures >= plugin.MaxFailures {
			return 0, fmt.Errorf("it failed %d times, the last time: %w", plugin.MaxFailures, failure)
		}
		r.Log.Info("reporter " + r.Title + " is started again: " + failure.Error())
		if failure = r.reopen(ctx); failure == nil {
			return r.current.After(), nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

func (r *PluginReporter) drop() {
	if r.current != nil {
		_ = r.current.Close() // it has failed already
		r.current = nil
	}
}

// Close implements Reportee. It may be called again.
func (r *PluginReporter) Close() (err error) {
	r.closing.Do(func() {
		if r.current != nil {
			err = errors.Join(r.note(), r.current.Close())
		}
	})
	return err
}

// note keeps the number of the last event for the next host.
func (r *PluginReporter) note() error {
	if r.told == r.noted {
		return nil
	}
	err := storage.WriteFile(r.File, fmt.Appendf(nil, "%d\n", r.told))
	if err == nil || diskspace.IsFull(err) {
		r.noted = r.told
		return nil
	}
	return err
}

// readNumber returns 0 if the file is missing or incomplete.
func readNumber(file string) uint64 {
	text, err := nolink.ReadFile(file, 64)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil || !strings.HasSuffix(string(text), "\n") {
		return 0
	}
	return n
}
