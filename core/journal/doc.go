// Package journal keeps the record of an experiment: an append-only sequence of opaque records,
// numbered from 1, that survives kill -9 at any time, power loss, a full disk and lying caches. The
// host's loop writes it (Journal). Readers use Reader and Verify, also while it is written. The
// package does not know what the records mean, and package core does not import it. It is not a
// database: it has one writer, no keys and no deletion.
//
// # Guarantees
//
//   - An append survives kill -9 when Append has returned, and power loss when the next Sync has returned.
//   - After any crash the journal holds a prefix of the appended records, in order and unchanged, which
//     includes all synced records.
//   - A torn end is cut off and reported. Damage before it is an error that names file, offset and event; then
//     nothing is written.
//   - A reader takes no lock, writes nothing, and sees complete batches only.
//
// # Files
//
// A journal is a directory of segments. A segment is named after its first event, 20 digits and
// ".tj", so that names sort like events: 00000000000000000001.tj. A temporary segment is named
// ".NAME.RUN.tunehost-tmp", with the run id in base 32. Open removes leftovers of its own run and
// no other file. A segment gets its final name by rename after its header was synced, and the
// directory is synced before anything is appended to it. So a segment with a final name always has
// a complete header, and its existence proves that all earlier events are durable.
//
// All integers are little-endian. CRC means CRC-32C (Castagnoli). "CRC of run id and X" is the CRC
// of the sixteen bytes of the run id followed by X; this excludes frames of other runs.
//
// # Segment header, 64 bytes
//
//	 0  8  magic "TUNEJRNL"
//	 8  2  format version
//	10  2  zero
//	12  4  link: header CRC of the last frame with records before this segment, 0 in the first segment
//	16 16  run id
//	32  8  number of the first event, as in the name
//	40 20  zero
//	60  4  CRC of bytes 0 to 59
//
// The magic, the version and this CRC have the same position in all versions, so an older program
// can tell a newer file from a damaged one.
//
// # Frame: 40 bytes and the payload
//
// Frames follow the header and each other without gaps. Each Append writes one frame with one
// write.
//
//	 0  4  magic F5 54 4A 46
//	 4  4  header CRC: CRC of run id and bytes 8 to 39
//	 8  4  CRC of the payload
//	12  4  bytes of payload
//	16  4  number of records
//	20  4  flags: bit 0 closed; the others are zero
//	24  8  number of the first record: one more than that of the record before it
//	32  8  durable: number of the first event that was not known to be synced when this frame was written
//
// The payload consists of the records, each preceded by its length as an unsigned varint. A closed
// frame has no records; Close writes it last, after all events were synced.
//
// # How the end is found
//
// Frames are written immediately and synced later. At a power loss, several frames may be unsynced,
// and each of them may be lost, complete or torn, independently of the others. The first incomplete
// frame of the last segment ends the journal, unless a later valid frame header has a durable
// number greater than the number of the expected event: then that event had been synced, and it is
// damaged. Durable numbers are valid wherever they are found, even in a stale block, because
// durable events are never renumbered.
//
// A segment that is not the last is durable up to the first event of the next segment, and link
// connects the two. So any inconsistency there is damage. The only exception is the closed frame,
// which has no events: it may be torn or missing, because the process may have been killed between
// writing and syncing it.
//
// Limits of detection: damage in synced frames looks like a torn end if no frame was written after
// that sync (Close writes one). The removal of the last segment, or of its last complete frames,
// cannot be detected.
//
// # Writing
//
// One goroutine appends. The host may act on a batch as soon as it is appended. It syncs within
// some 100 ms, and always before an action that cannot be undone. So a power loss costs at most
// those last moments, which the experiment repeats, and a disk that needs 10 ms for a sync does not
// delay every decision.
//
// A failed write or sync is never retried, because after a failed fsync the kernel may drop the
// dirty pages and report success for the next fsync. The Journal then fails permanently
// (ErrFailed); open it again to recover. A full disk is not a failure: the partial write is cut
// off, Append returns ErrNoSpace, and it may be repeated when there is space.
//
// For the same reason Open never appends to a file of an earlier process: the page cache may show
// data that is not on disk. Open reads an unclean last segment into memory, writes its complete
// frames to a new file, syncs it, renames it, and starts a new segment. A last segment without
// events is replaced. All this happens before Open returns, so the host never acts on events that a
// power loss could remove.
//
// A segment is full at Options.SegmentBytes; it is synced before the next one is created.
//
// # Design choices
//
//   - Several frames may be unsynced, instead of one sync before each action, because a sync costs some 70 us of
//     CPU time and up to 10 ms of waiting per decision. This requires the durable number in each frame: without
//     it, a bad frame before good ones could be damage or a torn end.
//   - The frame header has its own CRC, so its durable number counts even if the payload is torn, and the cost of
//     searching for later frames does not depend on the contents of the file.
//   - The header has no time and no segment number: the record of one seed has the same bytes in each run, and the
//     link and the first event already define the order.
//   - There are no compressed frames and no snapshots: a full replay costs some tens of nanoseconds per event.
//
// # Versions
//
// The list formats in limits.go has all versions in order. Journals of each version, intact and
// damaged, are in testdata. Whole experiments are in cmd/tunehost/testdata/released; the README
// there says what to do when a format changes.
package journal
