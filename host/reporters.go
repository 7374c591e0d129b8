package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/diskspace"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/report"
	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// noteTold is how often the host notes what a reporter has been told.
const noteTold = 2 * time.Second

// relay is a reporter that is a plugin, kept alive: one that fails is opened
// again and says which events it has.
type relay struct {
	title string // as `reporter "NAME"`
	open  func(ctx context.Context, told uint64) (plugin.Reporter, error)
	log   *hostlog.Log
	clock clock.Clock
	limit time.Duration // of one call
	file  string        // keeps the number of the last event that it was told

	current plugin.Reporter
	strikes plugin.Strikes
	barren  int // failures without an event that was taken
	told    uint64
	noted   uint64
	noteAt  time.Time
	closing sync.Once
}

// isFormat says whether a reporter is one of the files that the host writes
// itself.
func isFormat(ref config.PluginRef) bool {
	_, ok := files.ParseFormat(ref.Name)
	return ok && !ref.IsPath()
}

// openReporters opens the plugins among the experiment's reporters, at a time.
func (s *session) openReporters() error {
	if s.lock == nil {
		return nil // nothing is kept that could be told
	}
	taken := map[string]int{}
	for _, ref := range s.experiment.Reporters {
		if !isFormat(ref) {
			s.relays = append(s.relays, s.newRelay(ref, taken))
		}
	}
	errs := make([]error, len(s.relays))
	var wait sync.WaitGroup
	for i, r := range s.relays {
		wait.Go(func() { errs[i] = r.begin(context.Background()) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return &UserError{err}
	}
	return nil
}

func (s *session) newRelay(ref config.PluginRef, taken map[string]int) *relay {
	o := s.opener()
	key := relayKey(ref, taken)
	e := sdk.Experiment{Name: s.experiment.Name, Dir: s.dir.Path(), Problem: o.problem(seeds.Reporter)}
	return &relay{title: fmt.Sprintf("%q", ref.Name), log: s.log, clock: s.clock, limit: cmp.Or(o.timeout, callTimeout),
		file: filepath.Join(s.dir.Path(), ".told-"+key),
		open: func(ctx context.Context, told uint64) (plugin.Reporter, error) {
			e.Told = told
			p, err := o.start(ctx, sdk.KindReporter, ref, nil)
			if err != nil {
				return nil, err
			}
			r, err := p.OpenReporter(ctx, e, ref.Options)
			if err != nil {
				_ = p.Close()
				return nil, placed(ref, err)
			}
			return r, nil
		}}
}

// relayKey is a reporter's name in files. Two of one name are told apart by
// their order.
func relayKey(ref config.PluginRef, taken map[string]int) string {
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(ref.Name))
	key = key[:min(len(key), 64)]
	if taken[key]++; taken[key] > 1 {
		key += "-" + strconv.Itoa(taken[key])
	}
	return key
}

// begin opens it for the first time. What it refuses is the user's to mend; one
// that fails otherwise is given up like one that fails later.
func (r *relay) begin(ctx context.Context) error {
	r.told = readNumber(r.file)
	r.noted = r.told
	err := r.reopen(ctx)
	if f := plugin.FailureOf(err); err == nil || f == plugin.Refused || f == plugin.NotStarted || f == 0 {
		return err
	}
	if _, err := r.revive(ctx, err); err != nil {
		r.log.Warn("reporter " + r.title + " is told nothing, and the experiment goes on without it: " + err.Error())
	}
	return nil
}

func (r *relay) reopen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	p, err := r.open(ctx, r.told)
	if err == nil {
		r.current = p
	}
	return err
}

// Report implements reportee.
func (r *relay) Report(ctx context.Context, events []report.Event) error {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	if err := r.current.Report(ctx, reported(events)); err != nil {
		return err
	}
	r.told, r.barren = events[len(events)-1].Number, 0
	if now := r.clock.Now(); now.After(r.noteAt) {
		r.noteAt = now.Add(noteTold)
		return r.note()
	}
	return nil
}

// revive implements reportee. Failures in a row count however far apart they
// are: one that hangs takes its time.
func (r *relay) revive(ctx context.Context, failure error) (uint64, error) {
	for {
		r.drop()
		r.barren++
		if out := r.strikes.Out(r.clock.Now()); out || r.barren >= plugin.StrikesOut {
			return 0, fmt.Errorf("it failed %d times, the last time: %w", plugin.StrikesOut, failure)
		}
		r.log.Info("reporter " + r.title + " is started again: " + failure.Error())
		if failure = r.reopen(ctx); failure == nil {
			return r.current.After(), nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

func (r *relay) drop() {
	if r.current != nil {
		_ = r.current.Close() // it has failed already
		r.current = nil
	}
}

// Close implements reportee. It may be called again.
func (r *relay) Close() (err error) {
	r.closing.Do(func() {
		if r.current != nil {
			err = errors.Join(r.note(), r.current.Close())
		}
	})
	return err
}

// note keeps the number of the last event for the next host.
func (r *relay) note() error {
	if r.told == r.noted {
		return nil
	}
	err := storage.WriteFile(r.file, fmt.Appendf(nil, "%d\n", r.told))
	if err == nil || diskspace.IsFull(err) {
		r.noted = r.told
		return nil
	}
	return err
}

// readNumber is 0 where the file is not there, or not whole.
func readNumber(file string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(string(text), "\n"), 10, 64)
	if err != nil || !strings.HasSuffix(string(text), "\n") {
		return 0
	}
	return n
}

var reportKinds = map[core.ObservationKind]sdk.ReporterEventKind{
	report.Began: sdk.ReportStarted, core.SawEnd: sdk.ReportEnded, core.SawAdded: sdk.ReportAdded, core.SawStarted: sdk.ReportRuns,
	core.SawResult: sdk.ReportResult, core.SawPaused: sdk.ReportPaused, core.SawCheckpoint: sdk.ReportSaved,
	core.SawCompleted: sdk.ReportCompleted, core.SawFailed: sdk.ReportFailed, core.SawRequeued: sdk.ReportRequeued,
	core.SawRemoved: sdk.ReportRemoved,
}

// reported is events as plugins hear them.
func reported(events []report.Event) []sdk.ReporterEvent {
	out := make([]sdk.ReporterEvent, len(events))
	for i := range events {
		e := &events[i]
		out[i] = sdk.ReporterEvent{Number: e.Number, Kind: reportKinds[e.Kind], Time: e.Time, Iteration: e.Iteration,
			Restored: e.Restored, Resumed: e.Resumed, Reason: e.Reason, Result: reportedResult(e.Result)}
		if e.OfTrial() {
			out[i].Trial = reportedTrial(e)
		}
	}
	return out
}

func reportedTrial(e *report.Event) *sdk.ReportedTrial {
	t := &e.Trial
	x := &sdk.ReportedTrial{Number: uint32(t.Number), ID: t.ID, Dir: t.Dir, State: t.State.String(), Attempt: t.Attempt, Params: t.Params, Error: t.Error}
	if why := report.Failure(*e); why != "" {
		x.Error = why
	}
	return x
}

func reportedResult(r *report.Result) *sdk.ReportedResult {
	if r == nil {
		return nil
	}
	return &sdk.ReportedResult{Metrics: plainMetrics(r.Metrics), Totals: plainMetrics(r.Totals), Iteration: r.Iteration, Done: r.Done,
		TimeTotal: r.TimeTotal, TimeThisIter: r.TimeThisIter, PID: r.PID, Host: r.Host, Restored: r.Restored,
		IterationsSinceRestore: r.IterationsSinceRestore, TimeSinceRestore: r.TimeSinceRestore, Again: r.Again}
}

func plainMetrics(list []report.Metric) []sdk.Metric {
	out := make([]sdk.Metric, len(list))
	for i, m := range list {
		out[i] = sdk.Metric(m)
	}
	return out
}
