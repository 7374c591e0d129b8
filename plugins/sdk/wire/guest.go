package wire

import (
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// GuestReportToProto encodes a result of a WASM module; saves is true if the module can save the
// state of exactly this result.
func GuestReportToProto(r sdk.Result, saves bool) *pb.GuestReport {
	return &pb.GuestReport{Metrics: metricsToProto(r.Metrics), Iteration: r.Iteration, Done: r.Done, Saves: saves,
		Values: r.Values}
}

// GuestReportFromProto decodes a result of a WASM module.
func GuestReportFromProto(m *pb.GuestReport) (r sdk.Result, saves bool) {
	return sdk.Result{Metrics: metricsFromProto(m.GetMetrics()), Iteration: m.GetIteration(), Done: m.GetDone(),
		Values: m.GetValues()}, m.GetSaves()
}

// GuestTrialToProto encodes a trial for a WASM module. A module has no files, so it gets no
// directories, but the state to continue from, or nil.
func GuestTrialToProto(t sdk.Trial, state []byte) *pb.GuestTrainRequest {
	t.Dir, t.Restore = "", ""
	return &pb.GuestTrainRequest{Trial: TrialToProto(&t), Restored: state != nil, State: state}
}
