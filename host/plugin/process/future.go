package process

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/host/plugin"
)

// future says whether a field that no version knows is added to messages, as a later minor version may
// do. Plugins must ignore it.
type future struct{ on atomic.Bool }

// SendUnknownFields adds an unknown field to every later message to the plugin. It is for tests of
// plugins.
func (p *Process) SendUnknownFields() { p.future.on.Store(true) }

// Transport names how the plugin is reached.
func (p *Process) Transport() string { return "process" }

// unknownField is the largest field number of protobuf.
const unknownField = protowire.MaxValidNumber

func (f *future) add(message any) {
	if m, ok := message.(proto.Message); ok && f.on.Load() {
		unknown := protowire.AppendTag(nil, unknownField, protowire.BytesType)
		m.ProtoReflect().SetUnknown(protowire.AppendString(unknown, "of a later version"))
	}
}

func (f *future) call(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	f.add(request)
	return invoke(ctx, method, request, answer, conn, o...)
}

func (f *future) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	make grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := make(ctx, desc, conn, method, o...)
	return &futureStream{s, f}, err
}

type futureStream struct {
	grpc.ClientStream
	future *future
}

func (s *futureStream) SendMsg(m any) error {
	s.future.add(m)
	return s.ClientStream.SendMsg(m)
}

// errOtherKind says that the program is a plugin of another kind.
var errOtherKind = errors.New("it is a plugin of another kind")

// IsOtherKind reports whether a start failed because the program is a plugin of another kind.
func IsOtherKind(err error) bool {
	return plugin.FailureOf(err) == plugin.NotStarted && errors.Is(err, errOtherKind)
}
