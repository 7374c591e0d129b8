package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/tetratelabs/wazero/experimental"
)

const (
	// defaultCompileMemory is what compiling a module may take: a Go program of 9 MB
	// takes 130 MiB.
	defaultCompileMemory = 1 << 30
	// lookEvery is how often what is taken is looked at.
	lookEvery = 5 * time.Millisecond
	// maxCompilers work on a module at a time. Each has what it knows of all types.
	maxCompilers = 4
)

// compilers lets a context's modules be compiled by several goroutines.
func compilers(ctx context.Context) context.Context {
	return experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), maxCompilers))
}

// compile compiles the module, or gives up when that takes more memory than it may: what
// a compiler takes is not bounded by the size of what it compiles. What it has begun then
// goes on, until the process ends, which has a limit of its own (confine).
func (m *module) compile(ctx context.Context, code []byte) error {
	limit := m.config.compileMemory()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit / 4 * 3)) // what is garbage does not count
	done := make(chan error, 1)
	engine := m.runtime
	go func() {
		var err error
		m.compiled, err = engine.CompileModule(ctx, code)
		done <- err
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return unsound(err)
		case <-look.C:
			if heap() > uint64(limit) {
				m.runtime = nil // it is in use, and not to be closed
				return fmt.Errorf("to compile it takes more than the %d MiB of memory allowed; have it built in smaller functions, or as a program", limit>>20)
			}
		}
	}
}

func unsound(err error) error {
	if err != nil {
		return errors.New("it is no valid WASM module: " + firstLine(err))
	}
	return nil
}

// heap is what the process has taken, of which little is garbage near the limit.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
