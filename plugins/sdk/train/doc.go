// Package train is the trainable's side of a Train stream in plain Go: it receives commands of the
// host, returns events, and runs the author's [sdk.Trainable].
//
// It is for implementations of transports: sdk/serve connects it to gRPC, and the host uses it
// directly for trainables in its own process, so that both behave the same. Authors of trainables
// only see [sdk.Run].
//
// # Credits
//
// A run may report up to RunAhead results more than the host has granted credits for: Report
// returns when reported − granted <= RunAhead. A result whose iteration is a multiple of
// CheckpointEvery waits until granted reaches reported (B-009), so that the host can request a
// checkpoint of exactly that result before it answers. Every result must therefore be answered, and
// a host that grants many credits at once must not grant past the next result to be saved.
//
// Where the trial says that results are confirmed, an order to stop answers only results that have a credit: Report
// waits for it, so that its answer follows the record.
//
// The last result (Done) needs no answer: Report returns at once. If the trainable saves and the
// result is due a checkpoint (CheckpointEvery or CheckpointAtEnd) that the trainable has not made
// itself, Report returns after it was saved.
package train
