// Package wire translates between the protocol's messages (tunehost.v1) and the
// plain Go types of package sdk and sdk/train.
//
// It is for implementations of transports: the host's loader and sdk/serve. Authors of plugins
// never see a message. All functions are pure; no other Go code uses generated types. Decoders of
// plugins' messages return an error for values that protocol 1 does not have; they never panic.
package wire
