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
	// defaultCompileMemory is what compiling a module may take: a Go program of 9 MB
	// takes 130 MiB.
	defaultCompileMemory = 1 << 30
	// A module may take so much processor time to be compiled, and so much more for each
	// MiB of it: a Go program of 9 MB takes 4 s. What is made to be hard on the compiler
	// would take the minutes of a start.
	leastCompileTime  = 10 * time.Second
	compileTimePerMiB = 5 * time.Second
	// lookEvery is how often what is taken is looked at.
	lookEvery = 5 * time.Millisecond
	// maxCompilers work on a module at a time. Each has what it knows of all types.
	maxCompilers = 4
)

// compilers lets a context's modules be compiled by several goroutines.
func compilers(ctx context.Context) context.Context {
	return experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), maxCompilers))
}

// compile compiles the module, or gives up when that takes more memory or processor time
// than it may: what a compiler takes is not bounded by the size of what it compiles. What it has begun then
// goes on, until the process ends, which has a limit of its own (confine).
func (m *module) compile(ctx context.Context, code []byte) error {
	limit, time0 := m.config.compileMemory(), processorTime()
	allowed := m.config.compileTime(len(code))
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
				return fmt.Errorf("to compile it takes more than the %d MiB of memory allowed; "+
					"have it built in smaller functions, or as a program", limit>>20)
			}
			if processorTime()-time0 > allowed {
				m.runtime = nil
				return fmt.Errorf("to compile it takes more than the %v of processor time allowed for its %d bytes; "+
					"have it built in smaller functions, or as a program", allowed.Round(time.Second/10), len(code))
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

// processorTime is what the process has used, on all processors together. A busy machine
// makes it no longer.
func processorTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// heap is what the process has taken, of which little is garbage near the limit.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
