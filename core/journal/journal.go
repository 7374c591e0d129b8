package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
)

// Options for creating and opening a journal.
type Options struct {
	// RunID is the run of the journal. Create requires it; Open and Verify check it unless it is
	// zero.
	RunID RunID
	// SegmentBytes is the size at which a segment is full; 0 is 64 MiB.
	SegmentBytes int64
	// Accept is called by Open after the replay, before anything is written; its error ends Open. It may be nil.
	Accept func() error
}

func (o Options) segmentBytes() (int64, error) {
	if o.SegmentBytes == 0 {
		return defaultSegmentBytes, nil
	}
	if o.SegmentBytes < segmentHeaderBytes || o.SegmentBytes > MaxSegmentBytes-MaxFrameBytes {
		return 0, fmt.Errorf("journal: segments of %d bytes (from %d to %d are possible)",
			o.SegmentBytes, segmentHeaderBytes, MaxSegmentBytes-MaxFrameBytes)
	}
	return o.SegmentBytes, nil
}

// A Journal is a journal open for writing. Append and Close must be called from one goroutine;
// Sync, Durable and Next may be called concurrently.
type Journal struct {
	fs           FS
	run          RunID
	seed         uint32
	segmentBytes int64

	syncing sync.Mutex // held while file is synced or replaced; locked before mu
	mu      sync.Mutex // guards the fields below
	file    File
	name    string
	size    int64  // of the complete frames in file
	next    uint64 // number of the next event
	durable uint64 // number of the first event not known to be synced
	link    uint32 // header CRC of the last frame with records
	buf     []byte
	torn    bool  // a part of a frame may follow size
	err     error // the reason why writing is impossible
}

// Append writes records as one frame and returns the number of the first. They survive kill -9 when
// Append has returned, and power loss when a later Sync has returned. The journal keeps no
// reference to records. An empty batch writes nothing.
//
// Errors: ErrTooLarge and ErrNoSpace (nothing appended, the journal is still usable), ErrFailed and
// ErrClosed.
func (j *Journal) Append(records [][]byte) (first uint64, err error) {
	if err := checkLimits(records); err != nil {
		return 0, err
	}
	if err := j.makeRoom(int64(frameBytes(records))); err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || len(records) == 0 {
		return j.next, j.err
	}
	first = j.next
	if err := j.write(frameHeader{}, records); err != nil {
		return 0, err
	}
	return first, nil
}

// write appends one frame to the file. mu is held.
func (j *Journal) write(h frameHeader, records [][]byte) error {
	if err := j.cutTorn(); err != nil {
		return err
	}
	if err := j.checkLength(); err != nil {
		return j.fail("write", err)
	}
	var crc uint32
	h.first, h.durable = j.next, j.durable
	j.buf, crc = appendFrame(j.buf[:0], j.seed, h, records)
	n, err := j.file.WriteAt(j.buf, j.size)
	if err == nil && n < len(j.buf) {
		err = io.ErrShortWrite
	}
	if isNoSpace(err) {
		j.torn = true
		if err := j.cutTorn(); err != nil {
			return err
		}
		return noSpace(err)
	}
	if err != nil {
		return j.fail("write", j.named(err))
	}
	j.size += int64(len(j.buf))
	if len(records) > 0 {
		j.next += uint64(len(records))
		j.link = crc
	}
	return nil
}

// named is an error of the file with the name that the file has now: it was created with another one.
func (j *Journal) named(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: filepath.Join(filepath.Dir(e.Path), j.name), Err: e.Err}
	}
	return err
}

// checkLength checks that the file still has its length. Later writes cannot repair a truncation by
// another process. mu is held.
func (j *Journal) checkLength() error {
	sized, ok := j.file.(interface{ Length() (int64, error) })
	if !ok || j.torn {
		return nil // not a file of a real disk, so no other process writes to it
	}
	size, err := sized.Length()
	if err == nil && size != j.size {
		err = ChangedError{j.name, size, j.size}
	}
	return err
}

// Check checks that the journal is still in its place and has its length. Call it before reporting
// success.
func (j *Journal) Check() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if err := j.sync(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.checkLength(); err != nil {
		return j.fail("look at", err)
	}
	if err := j.file.Sync(); err != nil { // this also checks that it is there
		return j.fail("sync", err)
	}
	return nil
}

// cutTorn removes the partial frame that a full disk left. A file system with snapshots or quotas may need space even
// for that, so that the next write tries again. mu is held. B-087
func (j *Journal) cutTorn() error {
	if !j.torn {
		return nil
	}
	err := j.file.Truncate(j.size)
	if isNoSpace(err) {
		return noSpace(err)
	}
	if err != nil {
		return j.fail("truncate", err)
	}
	j.torn = false
	return nil
}

// fail makes err the permanent error of this Journal. mu is held.
func (j *Journal) fail(what string, err error) error {
	if j.err == nil {
		j.err = fmt.Errorf("%w: %s %s: %w", ErrFailed, what, j.name, err)
	}
	return j.err
}

// Sync makes everything durable that was appended before the call. It may run concurrently with
// Append. Its error is final: see ErrFailed.
func (j *Journal) Sync() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	return j.sync()
}

// sync is Sync for callers that hold syncing. It releases mu during the disk operation, so that
// appends continue.
func (j *Journal) sync() error {
	j.mu.Lock()
	file, upto, done, err := j.file, j.next, j.durable == j.next, j.err
	j.mu.Unlock()
	if err != nil || done {
		return err
	}
	err = file.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		return j.fail("sync", err)
	}
	j.durable = upto
	return nil
}

// Durable returns the number of the first event that is not known to be synced. All events before
// it survive power loss.
func (j *Journal) Durable() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// Tail returns the current file, and the size of its complete frames. They are durable when a later
// Sync has returned.
func (j *Journal) Tail() (file string, bytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.name, j.size
}

// Next returns the number that the next event will get.
func (j *Journal) Next() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next
}

// Close syncs, marks the journal as closed and closes it. An error means that it was not closed
// cleanly; events acknowledged by Sync are safe. A second Close returns ErrClosed.
func (j *Journal) Close() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if errors.Is(j.sync(), ErrClosed) {
		return ErrClosed
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.markClosed()
	if cerr := j.file.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close %s: %w", j.name, cerr)
	}
	j.err = ErrClosed
	return err
}

// markClosed writes the closing frame. If there is no space, the next Open only has more work.
func (j *Journal) markClosed() error {
	if j.err != nil {
		return j.err
	}
	err := j.write(frameHeader{flags: flagClosed}, nil)
	if errors.Is(err, ErrNoSpace) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return j.fail("sync", err)
	}
	return nil
}
