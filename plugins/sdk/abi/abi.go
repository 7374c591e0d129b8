// Package abi is the interface between tunehost and a WASM module, version 1. The comments of its
// constants are the specification. The messages are those of PROTOCOL.md, with the same meaning.
//
// It is for authors of SDKs in other languages and of sandboxes. Authors of plugins in Go use
// plugins/sdk/serve.
//
// A module is a WASI reactor or a module without WASI (core WebAssembly 2.0, as
// wazero runs it). It exports its memory as "memory" and the functions below. It may import
// the functions of [Module] and of WASI preview 1, nothing else. It is called by one
// thread, one call at a time; imported functions never call back into it.
//
// Pointers and lengths are unsigned 32-bit numbers. A result that holds the address and length of a
// buffer is ptr<<32 | len.
//
// # Restrictions
//
// A module has no files, network, arguments or environment, unless its user grants them. Its clock
// starts in 2022 and advances by a millisecond with each reading, and its random numbers are the
// same at each start. A call that traps, or exceeds its memory limit or its deadline, ends the
// instance. A new instance gets the plugin's state back, as a restarted process does.
package abi

// Version is the result of [ExportVersion].
const Version = 1

// Exports of a module.
const (
	// ExportInitialize () is optional and is called once, before anything else.
	ExportInitialize = "_initialize"
	// ExportVersion () → i32 returns the version of this interface that the module implements.
	ExportVersion = "tunehost_abi"
	// ExportAlloc (size i32) → i32 returns the address of size bytes. The host fills them and
	// passes them to the next call of ExportInvoke; then they belong to the module. 0 means out of
	// memory and ends the instance.
	ExportAlloc = "tunehost_alloc"
	// ExportInvoke (ptr i32, len i32) → i64 calls a method. The buffer holds the length of the
	// method's name (16 bits, little endian), the name as gRPC writes it
	// ("/tunehost.v1.SearcherService/Suggest"), and the request message. The result is the buffer
	// of the answer: one byte with the gRPC status code, then the response message if the code is
	// 0, else an error text in UTF-8. The buffer stays valid until the next call of any export.
	//
	// The methods are those of SearcherService or SchedulerService. A trainable has
	// DescribeTrainable, OpenTrainable and optionally RequestResources of TrainableService, and
	// GuestService/GuestTrain. Unknown methods return status 12 (unimplemented).
	ExportInvoke = "tunehost_invoke"
	// ExportMemory is the module's memory.
	ExportMemory = "memory"
)

// Module is the name of the module that the host provides.
const Module = "tunehost_v1"

// Imports that the host provides.
const (
	// ImportLog (level i32, ptr i32, len i32) writes a line of UTF-8 to the log.
	ImportLog = "log"
	// ImportReport (ptr i32, len i32) → i32 sends a result (a message GuestReport) and waits until
	// the trial may continue. It may be called only within GuestTrain. It returns an [Answer]; call
	// ImportSaved after [Save]. If nobody answers any more, because the trial was killed or its host is
	// gone, this function, ImportSaved and ImportStopped do not return: the instance is ended.
	ImportReport = "report"
	// ImportSaved (ptr i32, len i32) → i32 sends the state of the last reported result (a message
	// GuestSaved) and waits. It may be called only after Save. It returns an Answer.
	ImportSaved = "saved"
	// ImportStopped () → i32 returns [Stop] or [Pause] if the trial was told to end, else [Continue].
	// It does not wait. It may be called only within GuestTrain.
	ImportStopped = "stopped"
)

// An Answer is the host's answer to a result.
type Answer int32

// The answers.
const (
	// Continue: train on; after the last result (done), return.
	Continue Answer = 0
	// Stop: GuestTrain must return now, without an error.
	Stop Answer = 1
	// Save: the host needs the state first.
	Save Answer = 2
	// Pause is like Stop; the trial will continue later.
	Pause Answer = 3
)

// Levels of log lines.
const (
	Debug = 0
	Info  = 1
	Warn  = 2
	Error = 3
)

// Limits that the host observes and enforces.
const (
	// MaxModuleBytes is the largest module that is loaded.
	MaxModuleBytes = 32 << 20
	// MaxAnswerBytes is the largest answer and the largest report; the answer to a snapshot may
	// have MaxSnapshotBytes.
	MaxAnswerBytes   = 4 << 20
	MaxSnapshotBytes = 16 << 20
	// MaxStateBytes is the largest checkpoint of a guest.
	MaxStateBytes = 256 << 20
	// MaxLogBytes is the longest line; longer lines are cut.
	MaxLogBytes = 64 << 10
)
