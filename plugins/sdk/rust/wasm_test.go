package rust_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// guest returns the file of a module that a make target builds.
func guest(t testing.TB, target, name string) string {
	t.Helper()
	language := map[string]toolchain.Language{"rust-guests": toolchain.Rust, "c-guests": toolchain.C}[target]
	return toolchain.Built(t, language, filepath.Join(".tools", target, name+".wasm"), target)
}

// module runs a sample as a module, using only the interface of package abi.
type module struct {
	path string
}

// An instance is a loaded module.
type instance struct {
	api.Module
	t      testing.TB
	log    []string
	report func(*pb.GuestReport) abi.Answer
	saved  func(*pb.GuestSaved) abi.Answer
}

// load returns an instance that imports only the interface.
func (m *module) load(t testing.TB) *instance {
	t.Helper()
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = runtime.Close(ctx) })
	i := &instance{t: t}
	message := func(ptr, n uint32, into proto.Message) {
		b, ok := i.Memory().Read(ptr, n)
		if !ok || proto.Unmarshal(b, into) != nil {
			t.Errorf("it hands over no %T", into)
		}
	}
	_, err := runtime.NewHostModuleBuilder(abi.Module).
		NewFunctionBuilder().WithFunc(func(_ context.Context, _ int32, ptr, n uint32) {
		b, _ := i.Memory().Read(ptr, n)
		i.log = append(i.log, string(b))
	}).Export(abi.ImportLog).
		NewFunctionBuilder().WithFunc(func(_ context.Context, ptr, n uint32) int32 {
		r := &pb.GuestReport{}
		message(ptr, n, r)
		return int32(i.report(r))
	}).Export(abi.ImportReport).
		NewFunctionBuilder().WithFunc(func(_ context.Context, ptr, n uint32) int32 {
		s := &pb.GuestSaved{}
		message(ptr, n, s)
		return int32(i.saved(s))
	}).Export(abi.ImportSaved).
		NewFunctionBuilder().WithFunc(func() int32 { return int32(abi.Continue) }).Export(abi.ImportStopped).
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	i.Module, err = runtime.InstantiateWithConfig(ctx, code,
		wazero.NewModuleConfig().WithStartFunctions(abi.ExportInitialize))
	if err != nil {
		t.Fatal(err)
	}
	if version, err := i.ExportedFunction(abi.ExportVersion).Call(ctx); err != nil || version[0] != abi.Version {
		t.Fatalf("it speaks version %v, %v", version, err)
	}
	return i
}

// invoke calls a method.
func (i *instance) invoke(method string, request, response proto.Message) error {
	message, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	call := binary.LittleEndian.AppendUint16(nil, uint16(len(method)))
	call = append(append(call, method...), message...)
	answer, err := i.exchange(call)
	if err != nil {
		return fmt.Errorf("%w; its log: %q", err, i.log)
	}
	if answer[0] != 0 {
		return errors.New(string(answer[1:]))
	}
	return proto.Unmarshal(answer[1:], response)
}

func (i *instance) exchange(call []byte) ([]byte, error) {
	ctx := context.Background()
	ptr, err := i.ExportedFunction(abi.ExportAlloc).Call(ctx, uint64(len(call)))
	if err != nil || !i.Memory().Write(uint32(ptr[0]), call) {
		return nil, fmt.Errorf("no room for %d bytes: %v", len(call), err)
	}
	packed, err := i.ExportedFunction(abi.ExportInvoke).Call(ctx, ptr[0], uint64(len(call)))
	if err != nil {
		return nil, err
	}
	answer, ok := i.Memory().Read(uint32(packed[0]>>32), uint32(packed[0]))
	if !ok || len(answer) == 0 {
		return nil, fmt.Errorf("the answer %#x is not in its memory", packed[0])
	}
	return answer, nil
}

func (m *module) describe(t *testing.T) sdk.Info {
	i := m.load(t)
	var s pb.DescribeSearcherResponse
	var err error
	for _, method := range []string{
		pb.SearcherService_DescribeSearcher_FullMethodName, pb.SchedulerService_DescribeScheduler_FullMethodName,
		pb.TrainableService_DescribeTrainable_FullMethodName,
	} {
		// The three have the same messages.
		if err = i.invoke(method, &pb.DescribeSearcherRequest{}, &s); err == nil {
			return wire.InfoFromProto(s.GetInfo())
		}
	}
	t.Fatal(err)
	return sdk.Info{}
}

func (m *module) searcher(t testing.TB, p sdk.Problem, options string) (sdk.Searcher, error) {
	i := m.load(t)
	request := &pb.OpenSearcherRequest{Problem: wire.ProblemToProto(p), Options: []byte(options)}
	return searcherModule{i}, i.invoke(pb.SearcherService_OpenSearcher_FullMethodName, request,
		&pb.OpenSearcherResponse{})
}

type searcherModule struct{ *instance }

func (s searcherModule) Observe(_ context.Context, events []sdk.Event) error {
	request := &pb.SuggestRequest{Events: wire.EventsToProto(events)}
	return s.invoke(pb.SearcherService_Suggest_FullMethodName, request, &pb.SuggestResponse{})
}

func (s searcherModule) Suggest(_ context.Context, requests []sdk.Request) (sdk.Suggestions, error) {
	answer := &pb.SuggestResponse{}
	request := &pb.SuggestRequest{Requests: wire.RequestsToProto(requests)}
	if err := s.invoke(pb.SearcherService_Suggest_FullMethodName, request, answer); err != nil {
		return sdk.Suggestions{}, err
	}
	return wire.SuggestionsFromProto(answer)
}

func (m *module) scheduler(t *testing.T, p sdk.Problem, options string) (sdk.Scheduler, error) {
	i := m.load(t)
	request := &pb.OpenSchedulerRequest{Problem: wire.ProblemToProto(p), Options: []byte(options)}
	return schedulerModule{i}, i.invoke(pb.SchedulerService_OpenScheduler_FullMethodName, request,
		&pb.OpenSchedulerResponse{})
}

type schedulerModule struct{ *instance }

func (s schedulerModule) Decide(_ context.Context, events []sdk.Event) (sdk.Decisions, error) {
	answer := &pb.DecideResponse{}
	request := &pb.DecideRequest{Events: wire.EventsToProto(events)}
	if err := s.invoke(pb.SchedulerService_Decide_FullMethodName, request, answer); err != nil {
		return sdk.Decisions{}, err
	}
	return wire.DecisionsFromProto(answer)
}

func (m *module) train(t *testing.T, options string, trial sdk.Trial, pauseAt int, state []byte) (losses []float64,
	saved []byte, failed string) {
	i := m.load(t)
	if err := i.invoke(pb.TrainableService_OpenTrainable_FullMethodName,
		&pb.OpenTrainableRequest{Options: []byte(options)}, &pb.OpenTrainableResponse{}); err != nil {
		t.Fatal(err)
	}
	i.report = func(r *pb.GuestReport) abi.Answer {
		losses = append(losses, r.GetMetrics()[0].GetValue())
		if len(losses) == pauseAt && r.GetSaves() {
			return abi.Save
		}
		return abi.Continue
	}
	i.saved = func(s *pb.GuestSaved) abi.Answer {
		saved = s.GetState()
		return abi.Pause
	}
	answer := &pb.GuestTrainResponse{}
	request := &pb.GuestTrainRequest{Trial: wire.TrialToProto(&trial), Restored: state != nil, State: state}
	if err := i.invoke("/tunehost.v1.GuestService/GuestTrain", request, answer); err != nil {
		t.Fatal(err)
	}
	if answer.GetRestoreFailed() {
		answer.Error = "restore: " + answer.Error
	}
	return losses, saved, answer.GetError()
}

// Invalid calls, and calls of other kinds, return an error.
func TestStrangeCalls(t *testing.T) {
	i := (&module{guest(t, "rust-guests", "searcher")}).load(t)
	for _, call := range [][]byte{{}, {1}, {9, 0, 'a'}, {1, 0, '/'}} {
		if answer, err := i.exchange(call); err != nil || answer[0] == 0 {
			t.Errorf("%v was answered with %v, %v", call, answer, err)
		}
	}
	wantError(t, i.invoke(pb.SearcherService_Suggest_FullMethodName, &pb.SuggestRequest{}, &pb.SuggestResponse{}),
		"not opened")
	wantError(t, i.invoke(pb.SchedulerService_Decide_FullMethodName, &pb.DecideRequest{}, &pb.DecideResponse{}),
		"no method")
}
