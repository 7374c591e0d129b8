// Package sdk is the package that authors of plugins import.
//
// A plugin is a searcher (suggests trials), a scheduler (decides which trials continue), a
// trainable (trains), a reporter (publishes events) or an executor (runs trials). Each kind is one
// small interface. The host calls the interface that the author implements, whether the plugin runs
// in the host's process (tests and simulation), in its own process (hashicorp/go-plugin over gRPC)
// or as a WebAssembly module in a sandbox.
//
// Searchers and schedulers are functions of the history. The host keeps the history, sends it as
// numbered [Event]s, each once and in order, and passes a seed to every call that may use
// randomness. A plugin that gives the same answers for the same history and seeds can be replayed,
// restarted and moved.
//
// The wire format is in proto/tunehost/v1; PROTOCOL.md describes it for other
// languages.
package sdk
