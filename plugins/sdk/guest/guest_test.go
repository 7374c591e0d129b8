package guest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// host returns fixed answers and records the calls.
type host struct {
	answers []abi.Answer // of Report and Saved, in order
	heard   []string
	stop    abi.Answer
}

func (h *host) note(format string, values ...any) {
	h.heard = append(h.heard, fmt.Sprintf(format, values...))
}

func (h *host) answer() (a abi.Answer) {
	if len(h.answers) > 0 {
		a, h.answers = h.answers[0], h.answers[1:]
	}
	return a
}

func (h *host) Log(level int, line string) {
	h.note("log %d %s", level, strings.SplitN(line, "\n", 2)[0])
}

func (h *host) Report(b []byte) abi.Answer {
	m := &pb.GuestReport{}
	if err := proto.Unmarshal(b, m); err != nil {
		h.note("garbage")
	}
	r, saves := wire.GuestReportFromProto(m)
	h.note("report %v %d %v %v", r.Metrics, r.Iteration, r.Done, saves)
	return h.answer()
}

func (h *host) Saved(b []byte) abi.Answer {
	m := &pb.GuestSaved{}
	if err := proto.Unmarshal(b, m); err != nil {
		h.note("garbage")
	}
	h.note("saved %q %s", m.GetState(), m.GetError())
	return h.answer()
}

func (h *host) Stopped() abi.Answer { return h.stop }

type searcher struct{ panics bool }

func (s searcher) Observe(context.Context, []sdk.Event) error { return nil }

func (s searcher) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	if s.panics {
		panic("no luck")
	}
	return sdk.Suggestions{Points: []space.Point{{0.5}}}, nil
}

var testSearcher = sdk.SearcherPlugin{Info: sdk.Info{Name: "s"},
	Open: func(_ sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
		if string(options) == `"refuse"` {
			return nil, sdk.Traits{}, errors.New("no \xff thanks")
		}
		return searcher{string(options) == `"panic"`}, sdk.Traits{RunAhead: 4}, nil
	}}

func call(t *testing.T, m *Module, method string, request, answer proto.Message) (code byte, text string) {
	t.Helper()
	message, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(method)))
	out := m.Invoke(append(append(b, method...), message...))
	if out[0] != 0 {
		return out[0], string(out[1:])
	}
	if err := proto.Unmarshal(out[1:], answer); err != nil {
		t.Fatal(err)
	}
	return 0, ""
}

func TestSearcherCalls(t *testing.T) {
	h := &host{}
	m := New(Plugins{Searcher: &testSearcher}, h)
	described := &pb.DescribeSearcherResponse{}
	if code, text := call(t, m, pb.SearcherService_DescribeSearcher_FullMethodName, &pb.DescribeSearcherRequest{},
		described); code != 0 || described.Info.Name != "s" {
		t.Error(code, text, described)
	}
	suggest := &pb.SuggestRequest{Requests: []*pb.SuggestRequest_Request{{Seed: 1}}}
	if code, text := call(t, m, pb.SearcherService_Suggest_FullMethodName, suggest, nil); code != 9 ||
		text != "the plugin was not opened" {
		t.Error(code, text)
	}
	problem := wire.ProblemToProto(sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x", Kind: space.Real,
		High: 1}}},
		Objectives: []sdk.Objective{{Metric: "loss", Mode: sdk.Min}}})
	opened := &pb.OpenSearcherResponse{}
	if code, text := call(t, m, pb.SearcherService_OpenSearcher_FullMethodName,
		&pb.OpenSearcherRequest{Problem: problem}, opened); code != 0 || opened.Traits.RunAhead != 4 {
		t.Error(code, text, opened)
	}
	answer := &pb.SuggestResponse{}
	if code, text := call(t, m, pb.SearcherService_Suggest_FullMethodName, suggest, answer); code != 0 ||
		answer.Points[0].Values[0] != 0.5 {
		t.Error(code, text, answer)
	}
	open := func(options string) (byte, string) {
		return call(t, m, pb.SearcherService_OpenSearcher_FullMethodName,
			&pb.OpenSearcherRequest{Problem: problem, Options: []byte(options)}, opened)
	}
	if code, text := open(`"refuse"`); code != 3 || text != "no \uFFFD thanks" {
		t.Errorf("%d %q", code, text)
	}
	open(`"panic"`)
	if code, text := call(t, m, pb.SearcherService_Suggest_FullMethodName, suggest, answer); code != 13 ||
		!strings.HasPrefix(text, "panic in Suggest: no luck (guest_test.go:") {
		t.Errorf("%d %q", code, text)
	}
	if len(h.heard) != 1 || !strings.HasPrefix(h.heard[0], "log 3 panic in Suggest: no luck (guest_test.go:") {
		t.Errorf("%q", h.heard)
	}
}

func TestWrongCalls(t *testing.T) {
	m := New(Plugins{Searcher: &testSearcher}, &host{})
	for request, want := range map[string]string{
		"":            "\x03a call of 0 bytes has no method",
		"\x05\x00/a":  "\x03a call of 4 bytes has no method",
		"\x02\x00/ab": "\x0cthis module has no method /a",
		"\x24\x00/tunehost.v1.SearcherService/Suggest\xff": "\x03the request cannot be read: ",
	} {
		if got := string(m.Invoke([]byte(request))); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", request, got, want)
		}
	}
}

// All methods of the services exist, except those that only processes have.
func TestMethods(t *testing.T) {
	scheduler := sdk.SchedulerPlugin{}
	trainable := sdk.TrainablePlugin{}
	m := New(Plugins{&testSearcher, &scheduler, &trainable}, &host{})
	count := 0
	for _, s := range []grpc.ServiceDesc{pb.SearcherService_ServiceDesc, pb.SchedulerService_ServiceDesc,
		pb.TrainableService_ServiceDesc, pb.GuestService_ServiceDesc} {
		for _, method := range s.Methods {
			count++
			if name := "/" + s.ServiceName + "/" + method.MethodName; m.methods[name] == nil {
				t.Errorf("there is no %s", name)
			}
		}
	}
	if count != len(m.methods) {
		t.Errorf("there are %d methods, the services have %d", len(m.methods), count)
	}
}

// train trains with f and returns the response.
func train(t *testing.T, h *host, r *pb.GuestTrainRequest, f sdk.TrainFunc) *pb.GuestTrainResponse {
	t.Helper()
	m := New(Plugins{Trainable: &sdk.TrainablePlugin{Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
		return f, sdk.TrainableTraits{}, nil
	}}}, h)
	if code, text := call(t, m, pb.TrainableService_OpenTrainable_FullMethodName, &pb.OpenTrainableRequest{},
		&pb.OpenTrainableResponse{}); code != 0 {
		t.Fatal(text)
	}
	answer := &pb.GuestTrainResponse{}
	if code, text := call(t, m, pb.GuestService_GuestTrain_FullMethodName, r, answer); code != 0 {
		t.Fatal(text)
	}
	return answer
}

func TestTraining(t *testing.T) {
	loss := sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 2}}, Iteration: 3, Done: true}
	state := func() ([]byte, error) { return []byte("weights"), nil }
	report := func(_ context.Context, run sdk.Run) error { return sdk.ReportState(run, loss, state) }
	for name, c := range map[string]struct {
		answers []abi.Answer
		train   sdk.TrainFunc
		heard   string
		want    *pb.GuestTrainResponse
	}{
		"continues": {nil, report, "report [{loss 2}] 3 true true", &pb.GuestTrainResponse{}},
		"saves twice": {[]abi.Answer{abi.Save, abi.Save}, report,
			`report [{loss 2}] 3 true true; saved "weights" ; saved "weights" `, &pb.GuestTrainResponse{}},
		"stops": {[]abi.Answer{abi.Stop}, report, "report [{loss 2}] 3 true true", &pb.GuestTrainResponse{}},
		"unknown": {[]abi.Answer{9}, report, "report [{loss 2}] 3 true true",
			&pb.GuestTrainResponse{Error: "the host answered a result with 9, which this SDK does not know"}},
		"cannot save": {[]abi.Answer{abi.Save}, func(_ context.Context,
			run sdk.Run) error {
			return run.Report(loss,
				nil)
		}, `report [{loss 2}] 3 true false; saved "" the result of iteration 3 was reported without save, ` +
			"and a checkpoint of it is wanted: give save with each report", &pb.GuestTrainResponse{}},
		"pauses": {[]abi.Answer{abi.Pause}, func(_ context.Context, run sdk.Run) error {
			if err := run.Report(loss, nil); !errors.Is(err, sdk.ErrPaused) {
				return fmt.Errorf("it was told %w", err)
			}
			return nil
		}, "report [{loss 2}] 3 true false", &pb.GuestTrainResponse{}},
		"restore": {nil, func(context.Context, sdk.Run) error {
			return fmt.Errorf("at the start: %w", &sdk.RestoreError{Err: errors.New("bad magic")})
		}, "", &pb.GuestTrainResponse{Error: "bad magic", RestoreFailed: true}},
		"panics": {nil, func(context.Context, sdk.Run) error { panic("no luck") }, "log 3 panic: no luck",
			&pb.GuestTrainResponse{Error: "panic: no luck"}},
	} {
		h := &host{answers: c.answers}
		got := train(t, h, &pb.GuestTrainRequest{Trial: &pb.Trial{}}, c.train)
		if heard := strings.Join(h.heard, "; "); heard != c.heard || !proto.Equal(got, c.want) {
			t.Errorf("%s: %s, %v\nwant %s, %v", name, heard, got, c.heard, c.want)
		}
	}
}

// Code that waits for a stop, and code that polls, both see it.
func TestStopped(t *testing.T) {
	h := &host{stop: abi.Pause}
	train(t, h, &pb.GuestTrainRequest{Trial: &pb.Trial{}}, func(_ context.Context, run sdk.Run) error {
		<-run.(sdk.Stopper).Stopped()
		if paused := run.(interface{ Paused() bool }).Paused(); !paused {
			t.Error("it is not told that it is paused")
		}
		return nil
	})
}

// FuzzInvoke checks that every input is answered with a valid gRPC status.
func FuzzInvoke(f *testing.F) {
	f.Add([]byte("\x2d\x00/tunehost.v1.SearcherService/DescribeSearcher"))
	f.Add([]byte("\x29\x00/tunehost.v1.SearcherService/OpenSearcher\x0a\x00"))
	f.Add([]byte("\x24\x00/tunehost.v1.SearcherService/Suggest\x12\x02\x10\x01"))
	f.Fuzz(func(t *testing.T, request []byte) {
		m := New(Plugins{Searcher: &testSearcher}, &host{})
		m.Invoke([]byte("\x29\x00/tunehost.v1.SearcherService/OpenSearcher\x0a\x00"))
		if answer := m.Invoke(request); len(answer) == 0 || answer[0] > 16 {
			t.Fatalf("%q", answer)
		}
	})
}
