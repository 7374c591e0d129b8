package wire

import (
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// reporterKinds are the protocol's numbers of the kinds.
var reporterKinds = map[sdk.ReporterEventKind]pb.ReporterEvent_Kind{
	sdk.ReportStarted:   pb.ReporterEvent_KIND_EXPERIMENT_STARTED,
	sdk.ReportEnded:     pb.ReporterEvent_KIND_EXPERIMENT_ENDED,
	sdk.ReportAdded:     pb.ReporterEvent_KIND_TRIAL_ADDED,
	sdk.ReportRuns:      pb.ReporterEvent_KIND_TRIAL_STARTED,
	sdk.ReportResult:    pb.ReporterEvent_KIND_RESULT_REPORTED,
	sdk.ReportPaused:    pb.ReporterEvent_KIND_TRIAL_PAUSED,
	sdk.ReportSaved:     pb.ReporterEvent_KIND_CHECKPOINT_SAVED,
	sdk.ReportCompleted: pb.ReporterEvent_KIND_TRIAL_COMPLETED,
	sdk.ReportFailed:    pb.ReporterEvent_KIND_TRIAL_FAILED,
	sdk.ReportRequeued:  pb.ReporterEvent_KIND_TRIAL_REQUEUED,
	sdk.ReportRemoved:   pb.ReporterEvent_KIND_TRIAL_REMOVED,
}

// reporterKindOf is the inverse; 0 for unknown kinds of newer hosts.
func reporterKindOf(k pb.ReporterEvent_Kind) sdk.ReporterEventKind {
	for ours, theirs := range reporterKinds {
		if theirs == k {
			return ours
		}
	}
	return 0
}

// ReporterEventsToProto encodes events for a reporter.
func ReporterEventsToProto(events []sdk.ReporterEvent) []*pb.ReporterEvent {
	out := make([]*pb.ReporterEvent, len(events))
	for i := range events {
		e := &events[i]
		out[i] = &pb.ReporterEvent{
			Number: e.Number, Kind: reporterKinds[e.Kind], TimeNs: e.Time.UnixNano(),
			Trial: reportedTrialToProto(e.Trial), Result: reportedResultToProto(e.Result),
			Iteration: e.Iteration, Restored: e.Restored, Resumed: e.Resumed, Reason: text(e.Reason),
		}
	}
	return out
}

// ReporterEventsFromProto decodes events for a reporter. Unknown kinds of newer hosts are 0.
func ReporterEventsFromProto(ms []*pb.ReporterEvent) []sdk.ReporterEvent {
	out := make([]sdk.ReporterEvent, len(ms))
	for i, m := range ms {
		out[i] = sdk.ReporterEvent{
			Number: m.GetNumber(), Kind: reporterKindOf(m.GetKind()), Time: time.Unix(0, m.GetTimeNs()),
			Trial: reportedTrialFromProto(m.GetTrial()), Result: reportedResultFromProto(m.GetResult()),
			Iteration: m.GetIteration(), Restored: m.GetRestored(), Resumed: m.GetResumed(), Reason: m.GetReason(),
		}
	}
	return out
}

func reportedTrialToProto(t *sdk.ReportedTrial) *pb.ReportedTrial {
	if t == nil {
		return nil
	}
	return &pb.ReportedTrial{
		Number: t.Number, Id: text(t.ID), Dir: text(t.Dir), State: text(t.State),
		Attempt: t.Attempt, Params: t.Params, Error: text(t.Error),
	}
}

func reportedTrialFromProto(m *pb.ReportedTrial) *sdk.ReportedTrial {
	if m == nil {
		return nil
	}
	return &sdk.ReportedTrial{
		Number: m.GetNumber(), ID: m.GetId(), Dir: m.GetDir(), State: m.GetState(),
		Attempt: m.GetAttempt(), Params: m.GetParams(), Error: m.GetError(),
	}
}

func reportedResultToProto(r *sdk.ReportedResult) *pb.ReportedResult {
	if r == nil {
		return nil
	}
	return &pb.ReportedResult{
		Metrics: metricsToProto(r.Metrics), Totals: metricsToProto(r.Totals),
		Iteration: r.Iteration, Done: r.Done, TimeTotalS: r.TimeTotal, TimeThisIterS: r.TimeThisIter,
		Pid: r.PID, Host: text(r.Host), Restored: r.Restored,
		IterationsSinceRestore: r.IterationsSinceRestore, TimeSinceRestore: r.TimeSinceRestore, Again: r.Again,
		Values: r.Values,
	}
}

func reportedResultFromProto(m *pb.ReportedResult) *sdk.ReportedResult {
	if m == nil {
		return nil
	}
	return &sdk.ReportedResult{
		Metrics: metricsFromProto(m.GetMetrics()), Totals: metricsFromProto(m.GetTotals()),
		Iteration: m.GetIteration(), Done: m.GetDone(), TimeTotal: m.GetTimeTotalS(),
		TimeThisIter: m.GetTimeThisIterS(),
		PID:          m.GetPid(), Host: m.GetHost(), Restored: m.GetRestored(),
		IterationsSinceRestore: m.GetIterationsSinceRestore(), TimeSinceRestore: m.GetTimeSinceRestore(),
		Again: m.GetAgain(), Values: m.GetValues(),
	}
}
