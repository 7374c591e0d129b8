// Package abi is the interface between tunehost and a WASM module, version 1. Its
// constants carry the specification; the messages are those of PROTOCOL.md, with the
// same meaning.
//
// It is for those who write an SDK in another language, or the sandbox. Authors in
// Go use plugins/sdk/serve.
//
// A module is a WASI reactor or a module without WASI (core WebAssembly 2.0, as
// wazero runs it). It exports its memory as "memory" and the functions below. It may import
// the functions of [Module] and of WASI preview 1, nothing else. It is called by one
// thread, one call at a time; imported functions never call back into it.
//
// Pointers and lengths are unsigned 32-bit numbers. A buffer's address and length in one
// result is ptr<<32 | len.
//
// # What a module must not do
//
// It has no files, network, arguments or environment, unless its user grants them; its
// clock begins in 2022 and advances by a millisecond with each reading, and its random
// numbers are the same at each start. A call that traps, that needs more memory than allowed or more time than
// its deadline ends the instance: a new one gets the plugin's state back, as a restarted
// process does.
package abi

// Version is what [ExportVersion] returns.
const Version = 1

// What a module exports.
const (
	// ExportInitialize () is called once, first of all, if it is there.
	ExportInitialize = "_initialize"
	// ExportVersion () → i32 is the version of this interface that the module
	// speaks.
	ExportVersion = "tunehost_abi"
	// ExportAlloc (size i32) → i32 returns the address of size bytes that the
	// host fills and hands over with the next call of ExportInvoke; they are the
	// module's from then on. 0 says that it has no memory for them, which ends the
	// instance.
	ExportAlloc = "tunehost_alloc"
	// ExportInvoke (ptr i32, len i32) → i64 calls a method. The buffer holds the
	// length of the method's name (16 bits, little endian), the name as gRPC
	// writes it ("/tunehost.v1.SearcherService/Suggest"), and the request's
	// message. The result is the buffer of the answer: a byte, the gRPC status
	// code, followed by the answer's message when that is 0, else by a text in
	// UTF-8 that says why. It stays as it is until the next call of any export.
	//
	// Methods are those of SearcherService or SchedulerService; of a trainable,
	// DescribeTrainable, OpenTrainable and perhaps RequestResources of
	// TrainableService, and GuestService/GuestTrain. A method that is not there
	// is answered with status 12 (unimplemented).
	ExportInvoke = "tunehost_invoke"
	// ExportMemory is the module's memory.
	ExportMemory = "memory"
)

// Module is the name of the module that the host provides.
const Module = "tunehost_v1"

// What the host provides.
const (
	// ImportLog (level i32, ptr i32, len i32) writes a line of UTF-8 to the log.
	ImportLog = "log"
	// ImportReport (ptr i32, len i32) → i32, within GuestTrain only, hands over a
	// result (a message GuestReport) and waits until the trial may go on. It
	// returns an [Answer]; [Save] must be followed by ImportSaved.
	ImportReport = "report"
	// ImportSaved (ptr i32, len i32) → i32, after Save only, hands over the state
	// of the result that was reported last (a message GuestSaved) and waits. It
	// returns an Answer.
	ImportSaved = "saved"
	// ImportStopped () → i32, within GuestTrain only, is [Stop] or [Pause] once the
	// trial was told to end, and [GoOn] until then. It does not wait.
	ImportStopped = "stopped"
)

// Answer is what the host answers to a result.
type Answer int32

// The answers.
const (
	// GoOn: train on; after a result that was the last (done), return.
	GoOn Answer = 0
	// Stop: GuestTrain shall return now, without an error.
	Stop Answer = 1
	// Save: the state is wanted first.
	Save Answer = 2
	// Pause is Stop for a trial that will go on later.
	Pause Answer = 3
)

// Levels of log lines.
const (
	Debug = 0
	Info  = 1
	Warn  = 2
	Error = 3
)

// Limits that the host keeps to in what it writes, and holds the module to.
const (
	// MaxModuleBytes is the largest module that is loaded.
	MaxModuleBytes = 32 << 20
	// MaxAnswerBytes is the largest answer, and the largest report; a snapshot's
	// answer may be as large as MaxSnapshotBytes.
	MaxAnswerBytes   = 4 << 20
	MaxSnapshotBytes = 16 << 20
	// MaxStateBytes is the largest checkpoint of a guest.
	MaxStateBytes = 256 << 20
	// MaxLogBytes is the longest line; the rest is cut.
	MaxLogBytes = 64 << 10
)
