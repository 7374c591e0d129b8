// Package message has the messages of a host and its agents on a stream: frames with a kind and a
// content, and the types of the contents. The decoders read data from another machine, so they limit
// everything and never panic.
package message
