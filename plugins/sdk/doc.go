// Package sdk is what the author of a plugin imports.
//
// A plugin is a searcher (which trial next?), a scheduler (which trial goes
// on?), a trainable (what is trained) or a reporter (who else is told). Each
// kind is one small interface; the host calls the very interface that the
// author implements, whether the plugin runs in the host's process (tests and
// simulation), in a process of its own (hashicorp/go-plugin over gRPC) or as a
// WebAssembly module in a sandbox.
//
// Searchers and schedulers are functions of history: the host owns the
// history, tells it as numbered [Event]s, each once and in order, and gives
// every call its randomness as a seed. A plugin that answers the same way for
// the same history and seeds can be replayed, restarted and moved.
//
// The wire format is in proto/tunehost/v1; PROTOCOL.md describes it for other
// languages.
package sdk
