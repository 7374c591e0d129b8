// Package record encodes the core's events as the bytes that the journal keeps, and decodes them.
// It is the only package that knows both.
//
// A record is one event with its time:
//
//	record  = uvarint at | uvarint kind | fields
//	field   = uvarint (number<<3 | type) | value
//	type 0  = uvarint          type 2 = uvarint length | bytes
//
// Fields use the wire format of Protocol Buffers, so its tools can show them. Zero fields are
// omitted; the others are in the order of their numbers. Kinds and field numbers are never reused.
// An unknown kind or field is an error, since a newer version wrote it. at is the running time in
// nanoseconds.
//
// Causes are messages. Earlier versions had texts in their place, in fields that are still read but
// no longer written (before.go).
//
// Settings and nodes are JSON, and resource requests are text, because they are rare and people
// want to read them. Metrics are packed in one field: for each a uvarint of its ID and the 8 bytes
// of its value, so that NaN payloads and signed zeros are preserved.
package record
