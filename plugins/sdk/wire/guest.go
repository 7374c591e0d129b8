package wire

import (
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// GuestReportToProto encodes a result of a WASM module; saves says that it can save
// the state of just this result.
func GuestReportToProto(r sdk.Result, saves bool) *pb.GuestReport {
	return &pb.GuestReport{Metrics: metricsToProto(r.Metrics), Iteration: r.Iteration, Done: r.Done, Saves: saves, Values: r.Values}
}

// GuestReportFromProto decodes a result of a WASM module.
func GuestReportFromProto(m *pb.GuestReport) (r sdk.Result, saves bool) {
	return sdk.Result{Metrics: metricsFromProto(m.GetMetrics()), Iteration: m.GetIteration(), Done: m.GetDone(), Values: m.GetValues()}, m.GetSaves()
}

// GuestTrialToProto encodes a trial for a WASM module, which has no files: it is
// given no directories, but the state to go on from, nil if there is none.
func GuestTrialToProto(t sdk.Trial, state []byte) *pb.GuestTrainRequest {
	t.Dir, t.Restore = "", ""
	return &pb.GuestTrainRequest{Trial: TrialToProto(&t), Restored: state != nil, State: state}
}
