package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk/abi"
)

// instance is a running module. Calls come one at a time; after a failed one it is dead.
type instance struct {
	of     *module
	mod    api.Module
	alloc  api.Function
	invoke api.Function

	mu   sync.Mutex
	dead error
	// training is the attempt that GuestTrain is training; only the goroutine of the call uses it.
	training *training
	killed   bool // it was ended because nobody answers its trial
	said     said
}

// instanceKey is the context key under which imported functions find the instance.
type instanceKey struct{}

// instantiate makes an instance and lets it initialize itself.
func (m *module) instantiate(ctx context.Context) (*instance, error) {
	i := &instance{of: m}
	ctx = context.WithValue(withMemory(ctx), instanceKey{}, i)
	var err error
	settings := m.settings.WithStdout(&i.said).WithStderr(&i.said)
	if i.mod, err = m.runtime.InstantiateModule(ctx, m.compiled, settings); err != nil {
		return nil, i.callFailed(" in its start function", err)
	}
	i.alloc, i.invoke = i.mod.ExportedFunction(abi.ExportAlloc), i.mod.ExportedFunction(abi.ExportInvoke)
	if err := i.initialize(ctx); err != nil {
		i.close(ctx)
		return nil, err
	}
	return i, nil
}

func (i *instance) initialize(ctx context.Context) error {
	if f := i.mod.ExportedFunction(abi.ExportInitialize); f != nil {
		if _, err := f.Call(ctx); err != nil {
			return i.callFailed(" in "+abi.ExportInitialize, err)
		}
	}
	version, err := i.mod.ExportedFunction(abi.ExportVersion).Call(ctx)
	if err != nil {
		return i.callFailed(" in "+abi.ExportVersion, err)
	}
	switch got := int32(version[0]); {
	case got > abi.Version:
		return status.Errorf(codes.FailedPrecondition, "the module speaks version %d of the WASM interface, this "+
			"tunehost speaks %d: upgrade tunehost, or take a release of the plugin for version %[2]d", got, abi.Version)
	case got < abi.Version:
		return status.Errorf(codes.FailedPrecondition, "the module speaks version %d of the WASM interface, this "+
			"tunehost speaks %d: upgrade the plugin", got, abi.Version)
	}
	return nil
}

func (i *instance) close(ctx context.Context) {
	if i.mod != nil {
		_ = i.mod.Close(ctx)
	}
}

// call calls a method with a message and returns the answer's message of at most limit bytes. Errors
// are gRPC errors.
func (i *instance) call(ctx context.Context, method string, message []byte, limit int) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead != nil {
		return nil, status.Error(codes.Internal, "the module cannot be called any more: "+
			status.Convert(i.dead).Message())
	}
	answer, err := i.exchange(context.WithValue(ctx, instanceKey{}, i), pack(method, message), limit)
	if err != nil {
		return nil, err
	}
	return decode(answer)
}

// decode splits an answer of at least one byte into its message or its error.
func decode(answer []byte) ([]byte, error) {
	if code := codes.Code(answer[0]); code != codes.OK {
		return nil, status.Error(hostStatus(code), errorText(code, answer[1:]))
	}
	return answer[1:], nil
}

// exchange hands over a request and copies the answer, which has at least one byte.
func (i *instance) exchange(ctx context.Context, request []byte, limit int) ([]byte, error) {
	size := uint64(len(request))
	at, err := i.alloc.Call(ctx, size)
	if err != nil {
		return nil, i.callFailed("", err)
	}
	ptr := uint32(at[0])
	if ptr == 0 || !i.mod.Memory().Write(ptr, request) {
		return nil, i.broken("returned address %d from %s for %d bytes; its memory has %d", ptr, abi.ExportAlloc, size,
			i.mod.Memory().Size())
	}
	result, err := i.invoke.Call(ctx, uint64(ptr), size)
	if err != nil {
		return nil, i.callFailed("", err)
	}
	return i.answer(uint32(result[0]>>32), uint32(result[0]), limit)
}

// pack makes the request's buffer.
func pack(method string, message []byte) []byte {
	request := binary.LittleEndian.AppendUint16(make([]byte, 0, 2+len(method)+len(message)), uint16(len(method)))
	return append(append(request, method...), message...)
}

// answer copies an answer out of the module's memory; the module may reuse the memory in the next
// call.
func (i *instance) answer(ptr, size uint32, limit int) ([]byte, error) {
	if size == 0 {
		return nil, i.broken("answered nothing, not even a status")
	}
	view, ok := i.mod.Memory().Read(ptr, size)
	switch {
	case !ok:
		return nil, i.broken("answered with %d bytes at address %d; its memory has %d", size, ptr,
			i.mod.Memory().Size())
	case len(view) > limit+1:
		return nil, i.broken("answered with %d bytes, more than the %d allowed", size, limit)
	}
	return append([]byte(nil), view...), nil
}

// callFailed returns the error of a call that did not return, after which the instance is dead.
func (i *instance) callFailed(where string, err error) error {
	if _, ok := errors.AsType[*unanswered](err); ok {
		i.killed = true
		return i.broken("was ended%s: nobody answers its trial any more", where)
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return i.broken("exited with status %d%s", exit.ExitCode(), where)
	}
	if v, ok := errors.AsType[*violation](err); ok {
		return i.broken("%s%s", v.text, where)
	}
	line, stack, _ := strings.Cut(err.Error(), "\n")
	if stack != "" {
		i.of.log.Info("the module trapped: "+line, "stack", stack)
	}
	return i.broken("trapped%s: %s", where, strings.TrimPrefix(line, "wasm error: "))
}

// broken ends the instance because it broke a rule.
func (i *instance) broken(format string, values ...any) error {
	i.dead = status.Errorf(codes.Internal, "the module "+format, values...)
	return i.dead
}

// violation is the panic value of a module that misuses a function that it imports; it unwinds the
// module.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

// unanswered is the panic value that ends a module whose trial was killed, or whose host is gone: nobody has told it
// to stop, and an answer would be taken for a decision.
type unanswered struct{}

func (*unanswered) Error() string { return "nobody answers" }

// hostStatus returns a module's status as the host sees it. Codes that gRPC uses for connection errors are
// replaced.
func hostStatus(code codes.Code) codes.Code {
	switch code {
	case codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unavailable:
		return codes.Unknown
	}
	if code > codes.Unauthenticated {
		return codes.Internal
	}
	return code
}

// maxReason limits a module's text about an error, in bytes.
const maxReason = 4 << 10

// errorText returns the text of a module's error.
func errorText(code codes.Code, text []byte) string {
	if code > codes.Unauthenticated {
		return fmt.Sprintf("the module answered with status %d, which does not exist", uint32(code))
	}
	if len(text) == 0 {
		return fmt.Sprintf("the module answered with status %d and no reason", uint32(code))
	}
	return cut(text, maxReason)
}

// cut makes a module's text valid and limits its length.
func cut(text []byte, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + " [cut]"
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
