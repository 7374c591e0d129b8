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
	"golang.org/x/sys/unix"
)

const (
	// defaultCompileMemory is the memory for compiling a module: a Go program of 9 MB needs 130 MiB.
	defaultCompileMemory = 1 << 30
	// The limit of processor time to compile a module, and the addition for each MiB: a Go program of 9 MB
	// needs 4 s. A module that is designed to be slow to compile would use up the minutes of a start.
	leastCompileTime  = 10 * time.Second
	compileTimePerMiB = 5 * time.Second
	// lookEvery is how often the use is measured.
	lookEvery = 5 * time.Millisecond
	// maxCompilers is how many goroutines compile a module. Each has its own copy of all types.
	maxCompilers = 4
)

// compilers lets a context's modules be compiled by several goroutines.
func compilers(ctx context.Context) context.Context {
	return experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), maxCompilers))
}

// compile compiles the module, or gives up when that exceeds the memory or processor time: the size of
// a module does not limit what its compilation takes. An abandoned compilation continues until the
// process ends, which has limits of its own (confine).
func (m *module) compile(ctx context.Context, code []byte) error {
	limit, time0 := m.config.compileMemory(), processorTime()
	allowed := m.config.compileTime(len(code))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit / 4 * 3)) // collect garbage before measuring
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
				m.runtime = nil // still in use, must not be closed
				return fmt.Errorf("compiling it takes more than the %d MiB of memory allowed; "+
					"build it from smaller functions, or as a program", limit>>20)
			}
			if processorTime()-time0 > allowed {
				m.runtime = nil
				return fmt.Errorf("compiling it takes more than the %v of processor time allowed for its %d bytes; "+
					"build it from smaller functions, or as a program", allowed.Round(time.Second/10), len(code))
			}
		}
	}
}

func unsound(err error) error {
	if err != nil {
		return errors.New("it is not a valid WASM module: " + firstLine(err))
	}
	return nil
}

// processorTime returns the processor time of the process, over all processors. The load of the
// machine does not change it.
func processorTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// heap returns the heap of the process; near the limit little of it is garbage.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
