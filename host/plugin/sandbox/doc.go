// Package sandbox runs plugins that are WASM modules.
//
// A module is never compiled or run in the host's own process. It could end that process (by an
// allocation in the compiler that Go cannot recover from) or freeze it (native code is not preempted,
// so that a garbage collection waits for it). Instead, the program starts itself as a plugin process,
// the runner, which
//
//   - limits its own address space, core files and open files,
//   - reads the module once, compares its checksum, and scans it (package scan),
//   - checks what it imports and exports (package plugins/sdk/abi),
//   - compiles it with wazero, or takes the result from the user's cache,
//   - runs it with the memory that the experiment allows; without files, network,
//     arguments and environment; with a clock and random numbers that are the same at
//     each start; unless [Grants] say otherwise,
//   - and answers the host as every other plugin does.
//
// To the host it is a process (package process), with its deadlines, supervision and messages. A call
// that traps returns an error and ends the instance; a call that does not return ends the process at
// the host's deadline. Processor time has no other limit: a searcher may live for weeks.
//
// A trainable has one instance that describes it and computes what trials need, and a fresh one for
// each attempt.
//
// Package bundled starts runners for the rest of the host.
package sandbox
