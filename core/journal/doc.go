// Package journal keeps the record of an experiment: an append-only sequence of opaque records, numbered from 1, that
// survives kill -9 at any instant, loss of power, a full disk and lying caches. It is used by the host's loop, which
// writes (Journal), and by whoever looks at an experiment, live or not (Reader, Verify). It knows nothing of what the
// records mean; package core does not import it. Do not use it as a database: it has one writer, no keys and no
// deletion.
//
// # Promises
//
//   - An append survives kill -9 once Append has returned, and loss of power once the Sync after it has returned.
//   - After any crash the journal holds a prefix of what was appended, in order, unchanged, and at least what was
//     synced.
//   - A torn end is cut off and reported; damage before it is an error that names file, offset and event, and then
//     nothing is written.
//   - A reader takes no lock, writes nothing, and sees whole batches only.
//
// # Files
//
// A journal is a directory of segments. A segment is named after its first event, 20 digits and ".tj", so that names
// sort as events do: 00000000000000000001.tj. A segment in the making is ".NAME.RUN.tunehost-tmp", with the
// run id in base 32; Open removes left-over ones of its run, and no file of anybody else. A segment comes to its name by
// rename, after its header has been synced, and the directory is synced before anything is appended to it. So a named
// segment always has a whole header, and its existence says that all events before it are durable.
//
// All integers are little-endian. CRC means CRC-32C (Castagnoli). "CRC of run id and X" is the CRC of the sixteen bytes
// of the run id followed by X, so that nothing of another run ever fits in.
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
// The magic, the version and this CRC keep their places in all versions: that is how an older program tells a newer
// file from a damaged one.
//
// # Frame: 40 bytes and the payload
//
// Frames follow the header and each other without a gap. One Append is one frame is one write.
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
// The payload is the records one after the other, each preceded by its length as an unsigned varint. A closed frame has
// no records; a clean Close writes it last, after all events have been synced.
//
// # How the end is found
//
// Frames are written at once and synced somewhat later, so several frames may be unsynced when the power goes, and each
// of them may then be lost, whole or torn, whatever became of the others. The first frame of the last segment that is
// not whole ends the journal, unless an intact frame header further on has durable greater than the number that was
// expected there: then that event had been synced, and the disk or somebody has damaged it. A durable number is a fact
// about the run wherever it is found, also in a stale block: events that were once durable are never renumbered.
//
// A segment that is not the last is durable up to the first event of the next one, and link ties the two together, so
// there everything that does not fit is damage. The exception is the closed frame: it may be torn or missing there (the
// process may have been killed between writing and syncing it), because it carries no events.
//
// What this cannot see: damage in synced frames looks like a torn end as long as no frame has been written after that
// sync (a clean Close writes one); and a last segment, or last whole frames of it, that somebody removed were never
// there.
//
// # Writing
//
// One goroutine appends. Write before act; sync soon: the host may act on an appended batch at once, syncs within some
// 100 ms, and always syncs before something that cannot be taken back. The price of a power loss is then at most those
// last moments, which the experiment repeats; the gain is that a disk that needs 10 ms for a sync does not hold up
// every decision.
//
// A failed write or sync is never retried, because after a failed fsync the kernel may drop the dirty pages and answer
// the next fsync with success; the Journal is then failed for good (ErrFailed), and opening it anew is the cure. A full
// disk is no failure: the part that was written is cut off, Append returns ErrNoSpace and may be repeated when there is
// room.
//
// For the same reason Open never appends to a file of an earlier process: the page cache may show data that no disk
// holds. An unclean last segment is read into memory, its whole frames are written to a new file, which is synced and
// takes the name; then a new segment is started. A last segment without events is replaced by the new one. All this is
// done before Open returns, so that nothing is acted on that a power loss could take back.
//
// A segment is full at Options.SegmentBytes; it is synced before the next one is made.
//
// # Choices, and why
//
//   - Several frames may be unsynced, instead of one sync before each action: a sync costs some 70 us of processor time
//     and up to 10 ms of waiting, for each decision. Hence the durable number in each frame: without it, a bad frame
//     with good ones after it would not say whether it is damage or a torn end.
//   - The frame header has its own CRC, so that its durable number counts even when the payload is torn, and so that a
//     search for later frames costs the same whatever the file holds.
//   - There is no time and no segment number in the header: the record of one seed is the same bytes in each run, and
//     the link and the first event already give the order.
//   - There are no compressed frames and no snapshots: full replay costs some tens of nanoseconds per event.
//
// # Versions
//
// See formats in limits.go, which lists them in order. Journals of each version, whole and damaged, are in testdata; whole
// experiments are in cmd/tunehost/testdata/released, whose README says what to do when a format changes.
package journal
