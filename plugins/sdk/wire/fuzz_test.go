package wire_test

import (
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/guard"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/train"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// Each message of a plugin has a target: arbitrary bytes give an error or a value that the later
// checks accept or refuse, never a panic. The corpora in testdata have difficult input: truncated
// messages, lengths of 4 GiB, unknown wire types, nested groups, packed lists.

// decoded feeds bytes to a message and its decoder, complete and truncated.
func decoded[M proto.Message](b []byte, fresh func() M, use func(M)) {
	for _, part := range [][]byte{b, b[:len(b)/2]} {
		if m := fresh(); proto.Unmarshal(part, m) == nil {
			use(m)
		}
	}
}

func FuzzInfo(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.DescribeSearcherResponse { return &pb.DescribeSearcherResponse{} },
			func(m *pb.DescribeSearcherResponse) {
				_ = wire.InfoFromProto(m.GetInfo())
			})
	})
}

func FuzzTraits(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.OpenSchedulerResponse { return &pb.OpenSchedulerResponse{} },
			func(m *pb.OpenSchedulerResponse) {
				if x, _ := wire.TraitsFromProto(m.GetTraits()); x.RunAhead < 0 || x.RunAhead > 1<<30 {
					t.Errorf("it may run ahead by %d", x.RunAhead)
				}
			})
	})
}

func FuzzSuggestResponse(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.SuggestResponse { return &pb.SuggestResponse{} }, func(m *pb.SuggestResponse) {
			answer, err := wire.SuggestionsFromProto(m)
			if err != nil {
				return
			}
			for n := range 3 {
				if guard.CheckSuggestions(n, make([]sdk.Request, n), answer) == nil && len(answer.Points) > n {
					t.Errorf("%d points are taken for %d requests", len(answer.Points), n)
				}
			}
		})
	})
}

func FuzzDecideResponse(f *testing.F) {
	events := []sdk.Event{{Number: 1, Kind: sdk.ResultReported}, {Number: 2, Kind: sdk.TrialAdded}}
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.DecideResponse { return &pb.DecideResponse{} }, func(m *pb.DecideResponse) {
			answer, err := wire.DecisionsFromProto(m)
			if err == nil && guard.CheckDecisions(1, events, answer) == nil && len(answer.Decisions) > 1 {
				t.Errorf("%d decisions on one result are taken", len(answer.Decisions))
			}
		})
	})
}

func FuzzTrainResponse(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.TrainResponse { return &pb.TrainResponse{} }, func(m *pb.TrainResponse) {
			events, err := wire.TrainEventsFromProto(m)
			if err != nil {
				return
			}
			for _, e := range events {
				r := sdk.Result{Metrics: e.Metrics, Iteration: e.Iteration, Checkpoint: e.Checkpoint}
				if e.Kind == train.Result && sdk.CheckResult(&r) == nil &&
					(len(r.Metrics) > sdk.MaxMetrics || r.Iteration > sdk.MaxIteration) {
					t.Errorf("a result beyond the limits is taken: %+v", r)
				}
			}
		})
	})
}

func FuzzReportRequest(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		decoded(b, func() *pb.ReportRequest { return &pb.ReportRequest{} }, func(m *pb.ReportRequest) {
			once := wire.ReporterEventsFromProto(m.GetEvents())
			twice := wire.ReporterEventsFromProto(wire.ReporterEventsToProto(once))
			for i := range once {
				if once[i].Number != twice[i].Number || once[i].Kind != twice[i].Kind ||
					!sameResult(once[i].Result, twice[i].Result) {
					t.Errorf("%+v became %+v", once[i], twice[i])
				}
			}
		})
	})
}

func sameResult(a, b *sdk.ReportedResult) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Iteration == b.Iteration && math.Float64bits(a.TimeTotal) == math.Float64bits(b.TimeTotal) &&
		len(a.Metrics) == len(b.Metrics)
}
