package journal

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// Options are what a journal is created and opened with.
type Options struct {
	// RunID is the run that the journal is of. Create needs one; Open and Verify check it unless it is zero.
	RunID RunID
	// SegmentBytes is the size at which a segment is full; 0 is 64 MiB.
	SegmentBytes int64
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

// Journal is a journal open for writing. One goroutine appends and closes; Sync, Durable and Next may be called from others meanwhile.
type Journal struct {
	fs           FS
	run          RunID
	seed         uint32
	segmentBytes int64

	syncing sync.Mutex // held while file is synced or exchanged; locked before mu
	mu      sync.Mutex // guards what follows
	file    File
	name    string
	size    int64  // of the whole frames in file
	next    uint64 // number of the next event
	durable uint64 // number of the first event not known to be synced
	link    uint32 // header CRC of the last frame with records
	buf     []byte
	err     error // why nothing more can be written
}

// Append writes records as one frame and returns the number of the first. After kill -9 they are there; after loss of power only
// if Sync has returned since. The journal keeps no reference to records. An empty batch writes nothing.
//
// Errors: ErrTooLarge and ErrNoSpace (nothing appended, the journal goes on), ErrFailed and ErrClosed.
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

// write puts one frame at the end of the file. mu is held.
func (j *Journal) write(h frameHeader, records [][]byte) error {
	if err := j.whole(); err != nil {
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
		return j.takeBack(err)
	}
	if err != nil {
		return j.fail("write", err)
	}
	j.size += int64(len(j.buf))
	if len(records) > 0 {
		j.next += uint64(len(records))
		j.link = crc
	}
	return nil
}

// whole says that the file is as long as it was left: what somebody else has cut off, nothing that comes after it makes good. mu is held.
func (j *Journal) whole() error {
	sized, ok := j.file.(interface{ Length() (int64, error) })
	if !ok {
		return nil // no file of a real disk, on which nobody else writes
	}
	size, err := sized.Length()
	if err == nil && size != j.size {
		err = ChangedError{j.name, size, j.size}
	}
	return err
}

// Check says whether the journal is still where it was and as long as it was left: a last look before somebody says that all is well.
func (j *Journal) Check() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if err := j.sync(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.whole(); err != nil {
		return j.fail("look at", err)
	}
	if err := j.file.Sync(); err != nil { // which also looks whether it is there
		return j.fail("sync", err)
	}
	return nil
}

// takeBack cuts off the part of a frame that a full disk took. B-087
func (j *Journal) takeBack(cause error) error {
	if err := j.file.Truncate(j.size); err != nil {
		return j.fail("truncate", fmt.Errorf("%w (after %w)", err, cause))
	}
	return noSpace(cause)
}

// fail makes err the last word of this Journal. mu is held.
func (j *Journal) fail(what string, err error) error {
	if j.err == nil {
		j.err = fmt.Errorf("%w: %s %s: %w", ErrFailed, what, j.name, err)
	}
	return j.err
}

// Sync makes durable all that was appended before the call. It may run beside Append. Its error is final: see ErrFailed.
func (j *Journal) Sync() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	return j.sync()
}

// sync is Sync for those who hold syncing. It lets go of mu while the disk works, so that appends go on.
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

// Durable returns the number of the first event that is not known to be synced; all before it survive loss of power.
func (j *Journal) Durable() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// Tail returns the file that is being written, and how many bytes of it are whole frames. What was there is durable once a later Sync has returned.
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

// Close syncs, marks the journal as closed and lets go of it. An error means that it could not be closed cleanly; what Sync has acknowledged is
// safe nevertheless. A second Close returns ErrClosed.
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

// markClosed writes the closing frame. Without room for it the next Open does a little more work, and that is all.
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
