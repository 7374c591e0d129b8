package assemblyscript_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

const params = `{"lr": 0.002, "momentum": 0.9, "net": {"units": [1, 2], "act": "relu\n"}, "on": true, "off": null}`

func openTrainable(t testing.TB, name, options string) (*guest, *pb.OpenTrainableResponse) {
	t.Helper()
	g := load(t, name)
	m := &pb.OpenTrainableResponse{}
	g.must("TrainableService/OpenTrainable", &pb.OpenTrainableRequest{Options: []byte(options)}, m)
	return g, m
}

// losses trains and answers each result with continue, except for the one with another answer.
func (g *guest) losses(request *pb.GuestTrainRequest, other map[uint64]abi.Answer) (losses []float64,
	response *pb.GuestTrainResponse) {
	g.Helper()
	g.report = func(m *pb.GuestReport) abi.Answer {
		if len(m.GetMetrics()) != 1 || m.GetMetrics()[0].GetName() != "loss" {
			g.Fatal(m)
		}
		losses = append(losses, m.GetMetrics()[0].GetValue())
		return other[m.GetIteration()]
	}
	response = &pb.GuestTrainResponse{}
	g.must("GuestService/GuestTrain", request, response)
	return losses, response
}

func request(seed uint64) *pb.GuestTrainRequest {
	return &pb.GuestTrainRequest{Trial: &pb.Trial{Id: "00001", Seed: seed, Params: []byte(params),
		Resources: []byte(`{"cpu": 1}`)}}
}

func TestDescent(t *testing.T) {
	g, opened := openTrainable(t, "descent", `{"epochs": 6}`)
	if !opened.GetReusable() || opened.GetShared() || opened.GetSaves() {
		t.Error(opened)
	}
	m := &pb.DescribeTrainableResponse{}
	g.must("TrainableService/DescribeTrainable", &pb.DescribeTrainableRequest{}, m)
	describe(t, m.GetInfo(), sdk.KindTrainable)
	one, _ := g.losses(request(math.MaxUint64), nil)
	again, _ := g.losses(request(math.MaxUint64), nil)
	other, _ := g.losses(request(1), nil)
	if len(one) != 6 || !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("%v with one seed, %v with it again, %v with another", one, again, other)
	}
	stopped, response := g.losses(request(1), map[uint64]abi.Answer{3: abi.Stop})
	if len(stopped) != 3 || response.GetError() != "" {
		t.Errorf("%v, %v: want an end after the third", stopped, response)
	}
}

func TestBadParameters(t *testing.T) {
	g, _ := openTrainable(t, "descent", `{}`)
	bad := request(1)
	bad.Trial.Params = []byte(`{"lr": "fast"}`)
	if losses, response := g.losses(bad, nil); response.GetError() != `parameter "lr" is no number` || losses != nil {
		t.Errorf("%v, %v", response, losses)
	}
}

// TestPauseAndResume checks that a paused trial continues in another instance with the same losses.
func TestPauseAndResume(t *testing.T) {
	g, opened := openTrainable(t, "descent-resumable", `{"epochs": 8}`)
	if !opened.GetSaves() {
		t.Error(opened)
	}
	m := &pb.DescribeTrainableResponse{}
	g.must("TrainableService/DescribeTrainable", &pb.DescribeTrainableRequest{}, m)
	describe(t, m.GetInfo(), sdk.KindTrainable)
	whole, _ := g.losses(request(7), nil)

	var states [][]byte
	g.saved = func(m *pb.GuestSaved) abi.Answer {
		states = append(states, m.GetState())
		if len(states) < 2 {
			return abi.Continue
		}
		return abi.Pause
	}
	first, response := g.losses(request(7), map[uint64]abi.Answer{2: abi.Save, 5: abi.Save})
	if response.GetError() != "" || len(first) != 5 || len(states) != 2 {
		t.Fatal(response, first, len(states))
	}
	fresh, _ := openTrainable(t, "descent-resumable", `{"epochs": 8}`)
	next := request(7)
	next.Restored, next.State, next.Trial.Iteration = true, states[1], 5
	rest, response := fresh.losses(next, nil)
	if response.GetError() != "" || !slices.Equal(append(first, rest...), whole) {
		t.Errorf("%v and then %v, without the pause %v", first, rest, whole)
	}
	next.State = nil
	if rest, response = fresh.losses(next, nil); !response.GetRestoreFailed() || response.GetError() == "" ||
		rest != nil {
		t.Errorf("%v, %v: want that nothing cannot be restored", response, rest)
	}
}

// TestLongTraining checks that memory allocated between reports is freed.
func TestLongTraining(t *testing.T) {
	g, _ := openTrainable(t, "descent", `{"epochs": 200000}`)
	if losses, _ := g.losses(request(1), nil); len(losses) != 200_000 {
		t.Error(len(losses))
	}
	if size := g.module.Memory().Size(); size > 4<<20 {
		t.Errorf("the memory has %d bytes", size)
	}
}

func BenchmarkReport(b *testing.B) {
	g, _ := openTrainable(b, "descent", `{"epochs": 2000000000}`)
	last := uint64(b.N)
	g.losses(request(1), map[uint64]abi.Answer{last: abi.Stop})
}

// Hundreds of trials that end immediately (B-110).
func TestCrowd(t *testing.T) {
	for _, name := range []string{"descent", "descent-resumable"} {
		t.Run(name, func(t *testing.T) { hosttest.Crowd(t, file(t, name)) })
	}
}
