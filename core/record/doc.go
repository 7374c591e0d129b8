// Package record translates the core's events to the bytes that the journal
// keeps, and back. It is the only place that knows both.
//
// One record is one event with its time:
//
//	record  = uvarint at | uvarint kind | fields
//	field   = uvarint (number<<3 | type) | value
//	type 0  = uvarint          type 2 = uvarint length | bytes
//
// Fields are those of Protocol Buffers' wire format, so that its tools can show
// them. A field that is zero is left out, and the others come in the order of
// their numbers. Kinds and field numbers are never used again for something else;
// a kind or field that is unknown is an error, since it was written by a newer
// version. at is the running time in nanoseconds.
//
// Causes are messages of their own. Earlier versions had texts in their place, in fields
// that are read and not written any more (before.go).
//
// Settings and nodes are JSON, requests for resources their text: they are rare,
// and people want to read them. Metrics are packed in one field: for each a
// uvarint of its ID and the 8 bytes of its value, so that NaN payloads and signed
// zeros come back as they were.
package record
