// Package sandbox runs plugins that are WASM modules.
//
// A module is never compiled or run in the host's own process, which it could end (an
// allocation of the compiler's that Go cannot recover from) or freeze (native code is
// not preempted, so that a collection of garbage waits for it). The program starts
// itself as a plugin process instead, the runner, which
//
//   - gives up address space, core files and open files beyond a limit,
//   - reads the module once, compares its checksum, and scans it (package scan),
//   - checks what it imports and exports (package plugins/sdk/abi),
//   - compiles it by wazero, or takes what it compiled from the user's cache,
//   - runs it with the memory that the experiment allows; without files, network,
//     arguments and environment; with a clock and random numbers that are the same at
//     each start; unless [Grants] say otherwise,
//   - and answers the host as every other plugin does.
//
// To the host it is a process (package process), with its deadlines, supervision and
// messages. A call that traps is answered with an error and ends the instance; a call
// that does not return ends the process, by the host's deadline. There is no limit of
// processor time but these deadlines: a searcher may live for weeks.
//
// A trainable has one instance that says what it is and what trials need, and a fresh
// one for each attempt.
//
// Package bundled starts runners; the rest of the host asks it for one.
package sandbox
