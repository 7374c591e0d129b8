package process

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

func TestUnknownFields(t *testing.T) {
	var p Process
	send := func() (unknown int) {
		m := &pb.SuggestRequest{}
		err := p.future.call(t.Context(), "Suggest", m, nil, nil,
			func(_ context.Context, _ string, sent, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				unknown = len(sent.(proto.Message).ProtoReflect().GetUnknown())
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return unknown
	}
	if n := send(); n != 0 {
		t.Errorf("%d bytes of unknown fields without SendUnknownFields", n)
	}
	p.SendUnknownFields()
	if send() == 0 {
		t.Error("no unknown fields")
	}
}
