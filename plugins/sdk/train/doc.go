// Package train is the trainable's end of a Train stream in plain Go: commands
// of the host go in, events come out, and between them runs the author's
// [sdk.Trainable].
//
// It is for those who carry plugins: sdk/serve puts it behind gRPC, and the
// host uses it directly for trainables in its own process, so that both behave
// the same. Authors of trainables only see [sdk.Run].
//
// # Credits
//
// A run may have reported RunAhead results more than the host has granted
// credits for: Report returns when reported − granted <= RunAhead. A result
// whose iteration is a multiple of CheckpointEvery waits until granted reaches
// reported (B-009), so that the host can ask for a checkpoint of just that
// result before it answers. Every result must therefore be answered, and a host
// that grants many credits at once does not grant past the next result that is
// to be saved.
//
// The last result (Done) needs no answer: Report returns at once, or, when the
// trainable saves and the result is due a checkpoint (CheckpointEvery or
// CheckpointAtEnd) that it has not made itself, once it was saved.
package train
