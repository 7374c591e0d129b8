package assemblyscript_test

import (
	"math"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

func TestHalfway(t *testing.T) {
	g := load(t, "halfway")
	m := &pb.DescribeSchedulerResponse{}
	g.must("SchedulerService/DescribeScheduler", &pb.DescribeSchedulerRequest{}, m)
	describe(t, m.GetInfo(), sdk.KindScheduler)
	g.refused("SchedulerService/OpenScheduler", &pb.OpenSchedulerRequest{Problem: problem(small()),
		Options: []byte(`{"at": -1}`)}, codes.InvalidArgument, "at least 1")
	g.must("SchedulerService/OpenScheduler", &pb.OpenSchedulerRequest{Problem: problem(small()),
		Options: []byte(`{"at": 3}`)}, &pb.OpenSchedulerResponse{})
	decide := func(number uint64, trial uint32, iteration uint64, loss float64) sdk.Decision {
		t.Helper()
		response := &pb.DecideResponse{}
		g.must("SchedulerService/Decide", &pb.DecideRequest{Events: wire.EventsToProto([]sdk.Event{
			{Number: number - 1, Kind: sdk.CheckpointSaved, Trial: trial},
			{Number: number, Kind: sdk.ResultReported, Trial: trial, Attempt: 1, Iteration: iteration,
				Losses: []float64{loss}},
		})}, response)
		d, err := wire.DecisionsFromProto(response)
		if err != nil || len(d.Decisions) != 1 || d.Decisions[0].Event != number {
			t.Fatal(d, err)
		}
		return d.Decisions[0]
	}
	if d := decide(2, 0, 1, 9); d.Verdict != sdk.Continue || d.Until != 3 {
		t.Errorf("%+v: want no question before iteration 3", d)
	}
	for i, loss := range []float64{1, 5, 2, math.Inf(1)} {
		want := sdk.Continue
		if i == 3 {
			want = sdk.Stop
		}
		if d := decide(math.MaxUint64-uint64(i), uint32(i), 3, loss); d.Verdict != want ||
			(want == sdk.Stop) != strings.Contains(d.Reason, "above the median 2.0 of 3 others") {
			t.Errorf("trial %d: %+v", i, d)
		}
	}
	if d := decide(1000, 4, 3, 3); d.Verdict != sdk.Continue {
		t.Errorf("%+v: 3 is not above the median of 1, 2, 5 and infinity", d)
	}
}

// A scheduler that asks for results that a restarted trial reports once more is told which they are. B-061
func TestAgain(t *testing.T) {
	g := instantiate(t, compile(t, "testdata/again.ts"))
	opened, answer := &pb.OpenSchedulerResponse{}, &pb.DecideResponse{}
	g.must("SchedulerService/OpenScheduler", &pb.OpenSchedulerRequest{Problem: problem(small())}, opened)
	if !opened.GetTraits().GetAgain() {
		t.Error(opened)
	}
	result := sdk.Event{Number: 1, Kind: sdk.ResultReported, Attempt: 1, Iteration: 1, Losses: []float64{1}}
	once := result
	once.Number, once.Attempt, once.Again = 2, 2, true
	g.must("SchedulerService/Decide", &pb.DecideRequest{Events: wire.EventsToProto([]sdk.Event{result, once})}, answer)
	if d := answer.GetDecisions(); len(d) != 1 || d[0].GetEvent() != 2 || d[0].GetReason() != "attempt 2" {
		t.Error(answer)
	}
}
