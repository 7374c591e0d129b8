package sandbox

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-hclog"
	"github.com/tetratelabs/wazero/api"

	"github.com/tunehost/tunehost/plugins/sdk/abi"
)

// provide makes the functions that modules import.
func (m *module) provide(ctx context.Context) error {
	b := m.runtime.NewHostModuleBuilder(abi.Module)
	function := func(name string, f any) { b.NewFunctionBuilder().WithFunc(f).Export(name) }
	function(abi.ImportLog, func(ctx context.Context, mod api.Module, level, ptr, size uint32) {
		i := caller(ctx)
		i.write(int32(level), i.text(mod, ptr, size))
	})
	function(abi.ImportReport, func(ctx context.Context, mod api.Module, ptr, size uint32) uint32 {
		i := caller(ctx)
		return uint32(i.attempt(abi.ImportReport).report(i.argument(mod, abi.ImportReport, ptr, size,
			abi.MaxAnswerBytes)))
	})
	function(abi.ImportSaved, func(ctx context.Context, mod api.Module, ptr, size uint32) uint32 {
		i := caller(ctx)
		return uint32(i.attempt(abi.ImportSaved).saved(i.argument(mod, abi.ImportSaved, ptr, size,
			abi.MaxStateBytes+1<<10)))
	})
	function(abi.ImportStopped, func(ctx context.Context) uint32 {
		return uint32(caller(ctx).attempt(abi.ImportStopped).stopped())
	})
	_, err := b.Instantiate(ctx)
	return err
}

// caller returns the instance that calls an imported function.
func caller(ctx context.Context) *instance { return ctx.Value(instanceKey{}).(*instance) }

// attempt returns the attempt that is being trained. It is a violation to call the function without
// one.
func (i *instance) attempt(function string) *training {
	if i.training == nil {
		panic(&violation{fmt.Sprintf("called %s outside of GuestTrain", function)})
	}
	return i.training
}

// argument copies a message out of the module's memory.
func (i *instance) argument(mod api.Module, function string, ptr, size uint32, limit int) []byte {
	if uint64(size) > uint64(limit) {
		panic(&violation{fmt.Sprintf("called %s with %d bytes, more than the %d allowed", function, size, limit)})
	}
	return append([]byte(nil), view(mod, function, ptr, size)...)
}

// text copies a line, shortened.
func (i *instance) text(mod api.Module, ptr, size uint32) string {
	return cut(view(mod, abi.ImportLog, ptr, size), abi.MaxLogBytes)
}

// view returns the part of the module's memory that a call names.
func view(mod api.Module, function string, ptr, size uint32) []byte {
	b, ok := mod.Memory().Read(ptr, size)
	if !ok {
		panic(&violation{fmt.Sprintf("called %s with %d bytes at address %d; its memory has %d", function, size, ptr,
			mod.Memory().Size())})
	}
	return b
}

// write writes a line to the log of the trial that is being trained, else to the plugin's.
func (i *instance) write(level int32, line string) {
	if i.training != nil {
		i.said.add(line)
		i.training.run.Log(line)
		return
	}
	levels := [...]hclog.Level{abi.Debug: hclog.Debug, abi.Info: hclog.Info, abi.Warn: hclog.Warn,
		abi.Error: hclog.Error}
	if level < 0 || int(level) >= len(levels) {
		level = abi.Info
	}
	i.of.log.Log(levels[level], line)
}
