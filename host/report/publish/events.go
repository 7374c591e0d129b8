package publish

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var reportKinds = map[core.ObservationKind]sdk.ReporterEventKind{
	view.Began: sdk.ReportStarted, core.SawEnd: sdk.ReportEnded, core.SawAdded: sdk.ReportAdded,
	core.SawStarted: sdk.ReportRuns,
	core.SawResult:  sdk.ReportResult, core.SawPaused: sdk.ReportPaused, core.SawCheckpoint: sdk.ReportSaved,
	core.SawCompleted: sdk.ReportCompleted, core.SawFailed: sdk.ReportFailed, core.SawRequeued: sdk.ReportRequeued,
	core.SawRemoved: sdk.ReportRemoved,
}

// Reported converts events for plugins.
func Reported(events []view.Event) []sdk.ReporterEvent {
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

func reportedTrial(e *view.Event) *sdk.ReportedTrial {
	t := &e.Trial
	x := &sdk.ReportedTrial{Number: uint32(t.Number), ID: t.ID, Dir: t.Dir, State: t.State.String(), Attempt: t.Attempt,
		Params: t.Params, Error: t.Error}
	if why := e.Failure(); why != "" {
		x.Error = why
	}
	return x
}

func reportedResult(r *view.Report) *sdk.ReportedResult {
	if r == nil {
		return nil
	}
	return &sdk.ReportedResult{Metrics: plainMetrics(r.Metrics), Totals: plainMetrics(r.Totals), Iteration: r.Iteration,
		Done:      r.Done,
		TimeTotal: r.TimeTotal, TimeThisIter: r.TimeThisIter, PID: r.PID, Host: r.Host, Restored: r.Restored,
		IterationsSinceRestore: r.IterationsSinceRestore, TimeSinceRestore: r.TimeSinceRestore, Again: r.Again,
		Values: r.Values}
}

func plainMetrics(list []view.Metric) []sdk.Metric {
	out := make([]sdk.Metric, len(list))
	for i, m := range list {
		out[i] = sdk.Metric(m)
	}
	return out
}
