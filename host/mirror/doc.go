// Package mirror keeps a copy of an experiment in an object store or a shared
// directory, so that another machine can go on with it (B-059). The host uses it
// where storage is a URL; so do the commands that read an experiment.
//
// The experiment itself is in a working directory of the machine that runs it, as
// any other. What is in the store is a prefix of it at any time:
//
//	NAME/run.json, tunehost.lock, learned.jsonl
//	NAME/journal/SEGMENT/OFFSET     pieces of the record, never changed
//	NAME/blobs/SHA256               files of checkpoints and of exported models
//	NAME/trials/…/MANIFEST.json     each with all its files there
//	NAME/experiment.yaml            last: with it, the experiment is there
//	NAME/lease.json                 who runs it
//
// # What is promised
//
// A round copies what is new: first the checkpoints, then the record up to where it
// was when the round began. So each checkpoint that the copied record names is
// there whole, or its deletion is in the record; a checkpoint is deleted, here and
// in the store, only after a round that copied the record of its deletion. Only what
// is synced to the local disk is copied, so that the store is never ahead of it.
// Rounds follow each other within a second. A machine that is lost takes with it
// what came since the last round; where the store cannot be reached, that is
// everything since then, which stays in the working directory.
//
// Two hosts do not run one experiment at a time: each holds a lease and renews it,
// also while it fetches what is to go on. One that has lost it meanwhile writes nothing.
// Stores have no compare-and-swap that all of them share, so that two hosts that
// take over a dead one's lease in the same second may both believe that they have
// it, until the first renewal, when one of them stops.
package mirror
