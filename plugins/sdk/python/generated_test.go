package python_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// The messages of the Python package equal those of the Go package, which `make generated` compares
// with the .proto files.
func TestGenerated(t *testing.T) {
	cmd := exec.Command(python(t), "-c", `
import base64
from tunehost._proto import common_pb2, executor_pb2, reporter_pb2, scheduler_pb2, searcher_pb2, trainable_pb2
for m in common_pb2, executor_pb2, reporter_pb2, scheduler_pb2, searcher_pb2, trainable_pb2:
    print(base64.b64encode(m.DESCRIPTOR.serialized_pb).decode())`)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	for i, file := range []protoreflect.FileDescriptor{
		pb.File_tunehost_v1_common_proto, pb.File_tunehost_v1_executor_proto, pb.File_tunehost_v1_reporter_proto,
		pb.File_tunehost_v1_scheduler_proto, pb.File_tunehost_v1_searcher_proto, pb.File_tunehost_v1_trainable_proto,
	} {
		raw, err := base64.StdEncoding.DecodeString(lines[i])
		if err != nil {
			t.Fatal(err)
		}
		var got descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if want := protodesc.ToFileDescriptorProto(file); !same(&got, want) {
			t.Errorf("%s in Python is not what the .proto file says: run make generate and commit what changes",
				file.Path())
		}
	}
}

// same compares files except for the JSON names, which Go's compiler writes out.
func same(a, b *descriptorpb.FileDescriptorProto) bool {
	for _, f := range []*descriptorpb.FileDescriptorProto{a, b} {
		plain(f.MessageType)
	}
	return proto.Equal(a, b)
}

func plain(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.Field {
			f.JsonName = nil
		}
		plain(m.NestedType)
	}
}
