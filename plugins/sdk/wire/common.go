package wire

import (
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// InfoToProto encodes a plugin's description.
func InfoToProto(i sdk.Info) *pb.Info {
	return &pb.Info{
		Kind: string(i.Kind), Name: i.Name, Version: i.Version,
		Summary: i.Summary, OptionsSchema: i.Options,
	}
}

// InfoFromProto decodes a plugin's description.
func InfoFromProto(m *pb.Info) sdk.Info {
	return sdk.Info{
		Kind: sdk.Kind(m.GetKind()), Name: m.GetName(), Version: m.GetVersion(),
		Summary: m.GetSummary(), Options: m.GetOptionsSchema(),
	}
}

// TraitsToProto encodes traits; snapshots is true if the plugin is a [sdk.Snapshotter].
func TraitsToProto(t sdk.Traits, snapshots bool) *pb.Traits {
	return &pb.Traits{
		Independent: t.Independent, Quiet: t.Quiet,
		RunAhead: uint32(min(natural(t.RunAhead), maxRunAhead)),
		Metrics:  t.Metrics, Saves: t.Saves, Requires: t.Requires,
		Snapshots: snapshots, CombinesGrid: t.CombinesGrid, Again: t.Again,
	}
}

// TraitsFromProto decodes traits, and whether the plugin supports snapshots.
func TraitsFromProto(m *pb.Traits) (t sdk.Traits, snapshots bool) {
	return sdk.Traits{
		Independent: m.GetIndependent(), Quiet: m.GetQuiet(),
		RunAhead: int(min(uint64(m.GetRunAhead()), maxRunAhead)),
		Metrics:  m.GetMetrics(), Saves: m.GetSaves(), Requires: m.GetRequires(),
		CombinesGrid: m.GetCombinesGrid(), Again: m.GetAgain(),
	}, m.GetSnapshots()
}

// maxRunAhead bounds RunAhead; no plugin needs a larger value.
const maxRunAhead = 1 << 30

// EventsToProto encodes events.
func EventsToProto(events []sdk.Event) []*pb.Event {
	if len(events) == 0 {
		return nil
	}
	slab := make([]pb.Event, len(events)) // one allocation for all of them
	out := make([]*pb.Event, len(events))
	for i := range events {
		e, m := &events[i], &slab[i]
		m.Number, m.Kind = e.Number, pb.Event_Kind(e.Kind)
		m.Trial, m.Attempt, m.Iteration = e.Trial, e.Attempt, e.Iteration
		m.Point, m.Losses = pointToProto(e.Point), e.Losses
		m.Metrics = metricsToProto(e.Metrics)
		m.Seconds, m.SecondsTold, m.Reason = e.Seconds, e.SecondsTold, e.Reason
		m.Again = e.Again
		out[i] = m
	}
	return out
}

// EventsFromProto decodes events. Unknown kinds of newer hosts are kept as numbers; plugins ignore
// them.
func EventsFromProto(ms []*pb.Event) []sdk.Event {
	if len(ms) == 0 {
		return nil
	}
	out := make([]sdk.Event, len(ms))
	for i, m := range ms {
		out[i] = sdk.Event{
			Number: m.GetNumber(), Kind: sdk.EventKind(m.GetKind()),
			Trial: m.GetTrial(), Attempt: m.GetAttempt(), Iteration: m.GetIteration(),
			Point: pointFromProto(m.GetPoint()), Losses: m.GetLosses(),
			Metrics: metricsFromProto(m.GetMetrics()),
			Seconds: m.GetSeconds(), SecondsTold: m.GetSecondsTold(), Reason: m.GetReason(),
			Again: m.GetAgain(),
		}
	}
	return out
}

// text replaces invalid UTF-8, which protobuf cannot carry.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func metricsToProto(metrics []sdk.Metric) []*pb.Metric {
	if len(metrics) == 0 {
		return nil
	}
	slab := make([]pb.Metric, len(metrics))
	out := make([]*pb.Metric, len(metrics))
	for i := range metrics {
		slab[i].Name, slab[i].Value = text(metrics[i].Name), metrics[i].Value
		out[i] = &slab[i]
	}
	return out
}

func metricsFromProto(ms []*pb.Metric) []sdk.Metric {
	if len(ms) == 0 {
		return nil
	}
	out := make([]sdk.Metric, len(ms))
	for i, m := range ms {
		out[i] = sdk.Metric{Name: m.GetName(), Value: m.GetValue()}
	}
	return out
}
