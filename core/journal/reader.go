package journal

import (
	"fmt"
	"io"
	"slices"
)

// A Reader reads a journal that may be written concurrently. It takes no lock and writes nothing.
// It is not safe for concurrent use.
type Reader struct {
	fs   ReadFS
	file ReadFile // nil until the first segment exists

	first   uint64 // of the current segment
	run     RunID
	next    uint64
	durable uint64
	link    uint32
	scan    *scanner
	closed  bool
}

// NewReader returns a Reader at the first event. It does not access fs yet; the journal need not
// exist.
func NewReader(fs ReadFS) *Reader { return &Reader{fs: fs, next: 1, durable: 1} }

// Next returns the next batch and the number of its first event; the records are valid until the
// next call. io.EOF means that there is no further complete batch now: call again later.
//
// Other errors: ErrCorrupt, ErrNewerFormat, ErrRewound, ErrClosed and those of the file system.
func (r *Reader) Next() (first uint64, records [][]byte, err error) {
	f, err := r.frame()
	if _, none := noFrame(err); none {
		f, err = r.nextFile()
	}
	if err != nil {
		return 0, nil, err
	}
	r.next, r.link = f.end(), f.headerCRC
	r.durable = max(r.durable, f.durable)
	return f.first, f.records, nil
}

// Durable returns the number of the first event that the Reader does not know to be durable.
func (r *Reader) Durable() uint64 { return r.durable }

// RunID returns the run of the journal, or zero before the first successful Next.
func (r *Reader) RunID() RunID { return r.run }

// Close closes the journal.
func (r *Reader) Close() error {
	r.closed = true
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// frame returns the next frame with records of the current file.
func (r *Reader) frame() (frame, error) {
	if r.closed {
		return frame{}, ErrClosed
	}
	if r.file == nil {
		return frame{}, io.EOF
	}
	f, err := r.scan.next(r.next)
	if err == nil && f.closed() {
		// Do not move past the closing frame: an empty segment is replaced by one with the same
		// name.
		r.scan.offset = f.offset
		return frame{}, errClosedFrame
	}
	return f, err
}

// nextFile looks for the next frame when the current file has none: in the next segment, or again in
// the same one, because a writer may have appended to it or replaced it.
func (r *Reader) nextFile() (frame, error) {
	firsts, err := segments(r.fs)
	if err != nil || len(firsts) == 0 {
		return frame{}, r.emptyError(err)
	}
	if err := r.enter(firsts); err != nil {
		return frame{}, err
	}
	f, err := r.frame()
	if _, none := noFrame(err); !none {
		return f, err
	}
	if i, _ := slices.BinarySearch(firsts, r.next+1); i < len(firsts) {
		// The list was read before the second look, so this segment was complete.
		return frame{}, gap{r.fs, segmentName(r.first), r.scan.offset, r.next, firsts[i]}.error(err)
	}
	return frame{}, io.EOF
}

// emptyError returns the error for a journal without segments.
func (r *Reader) emptyError(err error) error {
	if err == nil && r.file != nil {
		err = fmt.Errorf("%s: %w", segmentName(r.first), ErrNoJournal)
	}
	if err == nil {
		err = io.EOF
	}
	return err
}

// enter opens the segment that has or will have event next.
func (r *Reader) enter(firsts []uint64) error {
	if r.file == nil && firsts[0] == 0 {
		return strayError(0, 1, 0, "events are numbered from 1")
	}
	if r.file == nil && firsts[0] > 1 {
		return missing(1, firsts[0])
	}
	at, found := slices.BinarySearch(firsts, r.next)
	if !found {
		at--
	}
	if at < 0 {
		return ErrRewound
	}
	return r.open(firsts[at])
}

// open opens the segment that begins with event first: a new one, or the current one again.
func (r *Reader) open(first uint64) error {
	file, err := r.fs.Open(segmentName(first))
	if err != nil {
		return err
	}
	offset, err := r.position(file, first)
	if err != nil {
		_ = file.Close()
		return err
	}
	if r.file == nil {
		r.scan = newScanner(file, r.run)
	} else {
		_ = r.file.Close() // it was open for reading only
	}
	r.scan.restart(file, offset)
	r.file, r.first = file, first
	return nil
}

// position checks that file continues the events read so far, and returns the offset at which to
// continue.
func (r *Reader) position(file ReadFile, first uint64) (int64, error) {
	h, err := readHeader(file, first)
	if err != nil {
		return 0, err
	}
	if r.file == nil {
		r.run = h.run
	}
	if h.run != r.run {
		return 0, fmt.Errorf("%w: %s is of run %x, not %x; put the journal of this run back", ErrWrongRun,
			segmentName(first), h.run, r.run)
	}
	if r.file == nil || first != r.first {
		return segmentHeaderBytes, r.checkLink(h)
	}
	size, err := file.Size()
	if err == nil && size < r.scan.offset {
		err = ErrRewound
	}
	return r.scan.offset, err
}

// checkLink refuses a segment that follows other events than those read, or that begins before
// them.
func (r *Reader) checkLink(h segmentHeader) error {
	if h.link != r.link {
		return ErrRewound
	}
	return nil
}
