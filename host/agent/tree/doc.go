// Package tree sends a folder with plain files over a stream of messages, and receives one. Both sides
// write only below a folder of their own, follow no links, and compare each file with its checksum. An
// interrupted transfer continues where the receiver's files end.
package tree
