// Package wire translates between the protocol's messages (tunehost.v1) and the
// plain Go types of package sdk and sdk/train.
//
// It is for those who carry plugins: the host's loader and sdk/serve. Authors
// of plugins never see a message. All functions are pure; nothing else in Go
// touches generated types. Decoders of messages that a plugin sends return an
// error for values that protocol 1 does not have; they never panic.
package wire
