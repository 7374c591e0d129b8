package serve

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/tunehost/tunehost/plugins/sdk/abi"
	"github.com/tunehost/tunehost/plugins/sdk/guest"
)

// The exports and imports of package abi, for a program that is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm
//
// Go's linker does not call main in this mode: the first call runs it, until it serves.

//go:wasmimport tunehost_v1 log
func importLog(level int32, ptr unsafe.Pointer, size uint32)

//go:wasmimport tunehost_v1 report
func importReport(ptr unsafe.Pointer, size uint32) int32

//go:wasmimport tunehost_v1 saved
func importSaved(ptr unsafe.Pointer, size uint32) int32

//go:wasmimport tunehost_v1 stopped
func importStopped() int32

// imports is the host as seen by the module.
type imports struct{}

func (imports) Log(level int, line string) {
	importLog(int32(level), unsafe.Pointer(unsafe.StringData(line)), uint32(len(line)))
}

func (imports) Report(m []byte) abi.Answer {
	return abi.Answer(importReport(unsafe.Pointer(unsafe.SliceData(m)), uint32(len(m))))
}

func (imports) Saved(m []byte) abi.Answer {
	return abi.Answer(importSaved(unsafe.Pointer(unsafe.SliceData(m)), uint32(len(m))))
}

func (imports) Stopped() abi.Answer { return abi.Answer(importStopped()) }

//go:linkname programMain main.main
func programMain()

var (
	served *Set          // the plugins that main serves
	module *guest.Module // nil before the first call
	// given are the buffers that the host fills, by address: nothing else refers to them until the
	// call. answer is kept until the next call.
	given  = map[uint32][]byte{}
	answer []byte
)

// Run records the plugins and ends the goroutine that runs main: as in a process, the code after
// the call is not reached, and deferred functions run.
func Run(s Set) int {
	served = &s
	runtime.Goexit()
	return 0
}

//go:wasmexport tunehost_abi
func exportVersion() int32 { return abi.Version }

//go:wasmexport tunehost_alloc
func exportAlloc(size uint32) uint32 {
	buffer := make([]byte, max(size, 1))
	at := address(buffer)
	given[at] = buffer
	return at
}

//go:wasmexport tunehost_invoke
func exportInvoke(ptr, size uint32) uint64 {
	request := given[ptr]
	delete(given, ptr)
	if module == nil {
		module = start()
	}
	answer = module.Invoke(request[:min(int(size), len(request))])
	return uint64(address(answer))<<32 | uint64(len(answer))
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// start runs main.
func start() *guest.Module {
	done := make(chan struct{})
	go func() {
		defer close(done)
		programMain()
	}()
	<-done
	if served == nil || len(served.infos()) == 0 {
		fmt.Fprintln(os.Stderr, "this program serves no plugin: its main must call serve.Searcher or its like")
		os.Exit(1)
	}
	return guest.New(guest.Plugins{Searcher: served.Searcher, Scheduler: served.Scheduler, Trainable: served.Trainable},
		imports{})
}
