// Package assemblyscript_test runs the AssemblyScript samples in a minimal host for the interface
// of package plugins/sdk/abi.
package assemblyscript_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// file returns the path of a built sample. It fails for an outdated one.
func file(t testing.TB, name string) string {
	t.Helper()
	file := toolchain.Built(t, toolchain.AssemblyScript, ".tools/assemblyscript/"+name+".wasm", "assemblyscript")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if source := newestSource(t); source.After(info.ModTime()) {
		t.Fatalf("%s is older than its sources: make assemblyscript", file)
	}
	return file
}

// module returns the code of a built sample.
func module(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// compile returns the code of another module.
func compile(t testing.TB, source string) []byte {
	t.Helper()
	toolchain.Need(t, toolchain.AssemblyScript)
	compiler, err := filepath.Abs(toolchain.Built(t, toolchain.AssemblyScript,
		"plugins/sdk/assemblyscript/node_modules/.bin/asc", "assemblyscript"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "module.wasm")
	said, err := exec.CommandContext(t.Context(), compiler, source, "--config", "asconfig.json", "--outFile",
		out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func newestSource(t testing.TB) (newest time.Time) {
	t.Helper()
	for _, dir := range []string{"assembly", "samples"} {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return newest
}

// A guest is an instance of a module.
type guest struct {
	testing.TB
	module api.Module
	logs   []string
	// report and saved are the answers to GuestTrain.
	report  func(*pb.GuestReport) abi.Answer
	saved   func(*pb.GuestSaved) abi.Answer
	stopped abi.Answer
}

func load(t testing.TB, name string) *guest {
	t.Helper()
	return instantiate(t, module(t, name))
}

func instantiate(t testing.TB, wasm []byte) *guest {
	t.Helper()
	ctx := t.Context()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = runtime.Close(context.WithoutCancel(ctx)) })
	g := &guest{TB: t}
	if _, err := g.imports(runtime).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	var err error
	config := wazero.NewModuleConfig().WithStartFunctions(abi.ExportInitialize)
	if g.module, err = runtime.InstantiateWithConfig(ctx, wasm, config); err != nil {
		t.Fatal(err)
	}
	if got, err := g.module.ExportedFunction(abi.ExportVersion).Call(ctx); err != nil || got[0] != abi.Version {
		t.Fatal(got, err)
	}
	return g
}

// imports has all functions that a module may import.
func (g *guest) imports(runtime wazero.Runtime) wazero.HostModuleBuilder {
	text := func(ptr, length uint32) []byte {
		b, ok := g.module.Memory().Read(ptr, length)
		if !ok {
			g.Fatal("a pointer outside of the memory")
		}
		return b
	}
	b := runtime.NewHostModuleBuilder(abi.Module)
	b.NewFunctionBuilder().WithFunc(func(level int32, ptr, length uint32) {
		g.logs = append(g.logs, string(text(ptr, length)))
	}).Export(abi.ImportLog)
	b.NewFunctionBuilder().WithFunc(func(ptr, length uint32) int32 {
		m := &pb.GuestReport{}
		if err := proto.Unmarshal(text(ptr, length), m); err != nil {
			g.Fatal(err)
		}
		return int32(g.report(m))
	}).Export(abi.ImportReport)
	b.NewFunctionBuilder().WithFunc(func(ptr, length uint32) int32 {
		m := &pb.GuestSaved{}
		if err := proto.Unmarshal(text(ptr, length), m); err != nil {
			g.Fatal(err)
		}
		return int32(g.saved(m))
	}).Export(abi.ImportSaved)
	b.NewFunctionBuilder().WithFunc(func() int32 { return int32(g.stopped) }).Export(abi.ImportStopped)
	return b
}

// call calls a method; the error is a trap or a status.
func (g *guest) call(method string, request, response proto.Message) error {
	g.Helper()
	message, err := proto.Marshal(request)
	if err != nil {
		g.Fatal(err)
	}
	answer, err := g.invoke("/tunehost.v1."+method, message)
	if err != nil {
		return err
	}
	if code := codes.Code(answer[0]); code != codes.OK {
		return status.Error(code, string(answer[1:]))
	}
	return proto.Unmarshal(answer[1:], response)
}

func (g *guest) invoke(method string, message []byte) ([]byte, error) {
	in := binary.LittleEndian.AppendUint16(nil, uint16(len(method)))
	in = append(append(in, method...), message...)
	ptr, err := g.module.ExportedFunction(abi.ExportAlloc).Call(g.Context(), uint64(len(in)))
	if err != nil {
		return nil, err
	}
	if !g.module.Memory().Write(uint32(ptr[0]), in) {
		return nil, errors.New("the allocated buffer is outside of the memory")
	}
	out, err := g.module.ExportedFunction(abi.ExportInvoke).Call(g.Context(), ptr[0], uint64(len(in)))
	if err != nil {
		return nil, err
	}
	answer, ok := g.module.Memory().Read(uint32(out[0]>>32), uint32(out[0]))
	if !ok || len(answer) == 0 {
		return nil, errors.New("the answer is outside of the memory, or empty")
	}
	return append([]byte(nil), answer...), nil
}

// must calls a method and fails the test on errors.
func (g *guest) must(method string, request, response proto.Message) {
	g.Helper()
	if err := g.call(method, request, response); err != nil {
		g.Fatalf("%s: %v %q", method, err, g.logs)
	}
}

// refused calls a method that must return the status and a text.
func (g *guest) refused(method string, request proto.Message, code codes.Code, says string) {
	g.Helper()
	err := g.call(method, request, &pb.Point{})
	if status.Code(err) != code || !strings.Contains(err.Error(), says) {
		g.Errorf("%s: %v; want %v: %s", method, err, code, says)
	}
}
