// Package mirror copies an experiment to an object store or a shared directory, so that another
// machine can continue it (B-059). The host uses it where storage is a URL, and so do the commands
// that read an experiment.
//
// The machine that runs the experiment has it in an ordinary working directory. The store holds a
// prefix of it at any time:
//
//	NAME/run.json, tunehost.lock, learned.jsonl
//	NAME/journal/SEGMENT/OFFSET     pieces of the record, never changed
//	NAME/blobs/SHA256               files of checkpoints and of exported models
//	NAME/nodes/HOST/TRIAL/ID/SHA256 files of checkpoints that nodes have written themselves
//	NAME/trials/…/MANIFEST.json     each with all its files there
//	NAME/experiment.yaml            last: with it, the experiment exists
//	NAME/lease.json                 who runs it
//
// # What is promised
//
// A round copies what is new: first the checkpoints, then the record up to where it was when the round
// began. So each checkpoint that the copied record names is complete in the store, or its deletion is
// in the record. A checkpoint is deleted, locally and in the store, only after a round that copied the
// record of its deletion. Only data that is synced to the local disk is copied, so that the store is
// never ahead of it. Rounds follow each other within a second. A lost machine loses what came after
// the last round. While the store cannot be reached, new data is in the working directory only.
//
// Before each round the host looks whether its marks are still there. What has vanished is copied again: see again.go.
//
// # Nodes
//
// Where the storage is a URL, and nodes can reach it with the credentials of their own environment, their agents
// write checkpoints there and read them ([Nodes], [Seen]). Agents write files, and never a manifest: a checkpoint
// exists when its host has seen in the store all that the agent says it has written, and has written the manifest,
// as for any other checkpoint. Each checkpoint has a folder of its own, whose name has the host, the attempt and
// the lease, so that an agent that was given up overwrites nothing of its successor, and a checkpoint that is
// deleted takes no file from another one. What was written for a checkpoint that never was is removed at once, or
// by the next host.
//
// Two hosts do not run one experiment at a time: each holds a lease and renews it, also while it
// fetches the experiment. A host that lost its lease writes nothing. There is no compare-and-swap that
// all stores have, so that two hosts that take over a dead host's lease in the same second may both
// believe that they hold it, until the first renewal, when one of them stops.
package mirror
