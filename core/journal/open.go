package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Replay receives the batches of a journal in order. The records are valid during the call only.
// An error ends the reading.
type Replay func(first uint64, records [][]byte) error

// Opened describes what Open and Verify found.
type Opened struct {
	RunID  RunID
	Format uint16 // of the last segment
	Next   uint64 // number of the next event; Next-1 events exist
	Clean  bool   // the last writer closed the journal
	Cut    *Cut   // the torn end that was cut off, or nil
}

// A Cut is a torn end: bytes that no Sync has acknowledged, as far as the journal knows. B-086
type Cut struct {
	File   string
	Offset int64  // byte of the file after the last complete frame
	Bytes  int64  // how many bytes were cut off
	Event  uint64 // number of the first lost event, if any
	Reason string
}

// String describes the cut in one line, for a warning.
func (c *Cut) String() string {
	return fmt.Sprintf("%s: %d bytes cut off at byte %d, from event %d on: %s (an append that a crash interrupted)",
		c.File, c.Bytes, c.Offset, c.Event, c.Reason)
}

// Create creates the journal of the run Options.RunID. When it returns, the empty journal is
// durable. The caller holds the directory's Lock.
//
// Errors: ErrExists, ErrNoSpace.
func Create(fs FS, opts Options) (*Journal, error) {
	if opts.RunID == (RunID{}) {
		return nil, errors.New("journal: a run needs an id")
	}
	segmentBytes, err := opts.segmentBytes()
	if err != nil {
		return nil, err
	}
	firsts, err := segments(fs)
	if err != nil {
		return nil, err
	}
	if len(firsts) > 0 {
		return nil, ErrExists
	}
	return start(fs, segmentBytes, opts.RunID, 1, 0)
}

// Open replays the whole journal, repairs its end if the last writer did not close it, and returns
// it ready for appending. When it returns, all replayed events are durable. The caller holds the
// directory's Lock.
//
// Errors: ErrCorrupt, ErrNewerFormat, ErrWrongRun, ErrNoJournal (nothing written), ErrNoSpace, and
// errors of replay and of Options.Accept.
func Open(fs FS, opts Options, replay Replay) (*Journal, Opened, error) {
	segmentBytes, err := opts.segmentBytes()
	if err != nil {
		return nil, Opened{}, err
	}
	w := newWalk(fs, opts, replay)
	w.repairs = true
	if err := w.inspect(); err != nil {
		return nil, w.opened, err
	}
	if opts.Accept != nil {
		if err := opts.Accept(); err != nil {
			return nil, w.opened, err
		}
	}
	if err := syncReplayed(fs, w); err != nil {
		return nil, w.opened, noSpace(err)
	}
	j, err := start(fs, segmentBytes, w.opened.RunID, w.opened.Next, w.link)
	return j, w.opened, err
}

// Verify reads the whole journal like Open and writes nothing. On a journal that is being written
// it may wrongly report a torn end.
func Verify(fs ReadFS, opts Options, replay Replay) (Opened, error) {
	w := newWalk(fs, opts, replay)
	err := w.inspect()
	return w.opened, err
}

// syncReplayed makes the replayed events durable, since the page cache proves nothing. After a clean close
// they are durable already; a segment without events is replaced anyway.
func syncReplayed(fs FS, w *walk) error {
	if err := removeTemporaries(fs, w.opened.RunID); err != nil {
		return err
	}
	if w.opened.Clean || !w.lastHasEvents() {
		return nil
	}
	file, err := newSegment(fs, segmentName(w.lastFirst), w.opened.RunID, w.last[:w.lastEnd])
	if err != nil {
		return err
	}
	return file.Close()
}

// start begins a segment at event next. All earlier events are durable.
func start(fs FS, segmentBytes int64, run RunID, next uint64, link uint32) (*Journal, error) {
	j := &Journal{
		fs: fs, run: run, seed: frameSeed(run), segmentBytes: segmentBytes,
		next: next, durable: next, link: link,
	}
	if err := j.begin(); err != nil {
		return nil, noSpace(err)
	}
	return j, nil
}

// A walk reads a journal from its first event to its last.
type walk struct {
	fs     ReadFS
	replay Replay
	opened Opened
	link   uint32

	// Of the last segment: its first event, and the end of its complete frames with records.
	lastFirst uint64
	lastEnd   int64
	repairs   bool   // it may be written anew
	last      []byte // its contents then
}

func newWalk(fs ReadFS, opts Options, replay Replay) *walk {
	return &walk{fs: fs, replay: replay, opened: Opened{RunID: opts.RunID, Next: 1}}
}

func (w *walk) inspect() error {
	firsts, err := segments(w.fs)
	if err != nil {
		return err
	}
	if len(firsts) == 0 {
		return ErrNoJournal
	}
	return w.run(firsts)
}

func (w *walk) lastHasEvents() bool { return w.opened.Next > w.lastFirst }

func (w *walk) run(firsts []uint64) error {
	for i, first := range firsts {
		switch next := w.opened.Next; {
		case first > next:
			return missing(next, first)
		case first < next:
			return strayError(first, next, 0, fmt.Sprintf("the events before %d are in other files", next))
		}
		var err error
		if i+1 < len(firsts) {
			err = w.sealed(first, firsts[i+1])
		} else {
			err = w.tail(first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) corrupt(name string, offset int64, reason string) error {
	return &CorruptError{File: name, Offset: offset, Event: w.opened.Next, Reason: reason}
}

// header reads and checks the header of the segment that begins with event first.
func (w *walk) header(file io.ReaderAt, first uint64) error {
	h, err := readHeader(file, first)
	if err != nil {
		return err
	}
	if w.opened.RunID == (RunID{}) {
		w.opened.RunID = h.run
	}
	if h.run != w.opened.RunID {
		return fmt.Errorf("%w: %s is of run %x, not %x; put the journal of this run back", ErrWrongRun,
			segmentName(first), h.run, w.opened.RunID)
	}
	if h.link != w.link {
		return w.corrupt(segmentName(first), 12, "it does not continue the segment before it")
	}
	w.opened.Format = h.format
	return nil
}

func readHeader(file io.ReaderAt, first uint64) (segmentHeader, error) {
	b := make([]byte, segmentHeaderBytes)
	n, err := readFull(file, b)
	if err != nil {
		return segmentHeader{}, err
	}
	return decodeSegmentHeader(segmentName(first), first, b[:n])
}

// sealed reads a segment that is followed by another one, which begins with event until.
func (w *walk) sealed(first, until uint64) error {
	name := segmentName(first)
	file, err := w.fs.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := w.header(file, first); err != nil {
		return err
	}
	s := newScanner(file, w.opened.RunID)
	for w.opened.Next < until {
		if err := w.step(s); err != nil {
			return gap{w.fs, name, s.offset, w.opened.Next, until}.error(err)
		}
	}
	return w.sealedEnd(file, name, s, until)
}

// sealedEnd checks that only a closing frame, complete or torn, follows the last event.
func (w *walk) sealedEnd(file ReadFile, name string, s *scanner, until uint64) error {
	offset := s.offset
	f, err := s.next(w.opened.Next)
	if _, none := noFrame(err); err != nil && !none {
		return err
	}
	if w.opened.Next > until || err == nil && !f.closed() {
		return strayError(until, w.opened.Next, 0, fmt.Sprintf("%s has the event %d, too", name, until))
	}
	size, err := file.Size()
	if err != nil {
		return err
	}
	if size-offset > frameHeaderBytes {
		return w.corrupt(name, offset, fmt.Sprintf("%d bytes follow the last event", size-offset))
	}
	return nil
}

// step replays the next frame. Its error is io.EOF, a badFrame or a failure.
func (w *walk) step(s *scanner) error {
	f, err := s.next(w.opened.Next)
	if err != nil {
		return err
	}
	if f.closed() {
		s.offset = f.offset
		return errClosedFrame
	}
	if w.replay != nil {
		if err := w.replay(f.first, f.records); err != nil {
			return replayError{err}
		}
	}
	w.opened.Next, w.link = f.end(), f.headerCRC
	return nil
}

// A replayError is an error of a Replay. It is kept apart from errors of the scanner: an io.EOF of
// a Replay is not the end of a file.
type replayError struct{ error }

// Unwrap returns what the Replay returned.
func (e replayError) Unwrap() error { return e.error }

// errClosedFrame ends the walk of a segment at its closing frame.
var errClosedFrame = badFrame("the segment was closed here")

// tail reads the last segment, as long as it is now.
func (w *walk) tail(first uint64) error {
	name := segmentName(first)
	file, err := w.fs.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return err
	}
	if size > MaxSegmentBytes {
		return w.corrupt(name, MaxSegmentBytes, fmt.Sprintf("%d bytes are more than a segment can have", size))
	}
	if !w.repairs {
		return w.lastFrames(io.NewSectionReader(file, 0, size), first)
	}
	// It is read once, into memory, so that syncReplayed writes exactly what was replayed, even if the disk
	// and the page cache differ.
	w.last = make([]byte, size)
	n, err := readFull(file, w.last)
	if err != nil {
		return err
	}
	w.last = w.last[:n]
	return w.lastFrames(bytes.NewReader(w.last), first)
}

// lastFrames reads the frames of the last segment, and looks at what follows them.
func (w *walk) lastFrames(file io.ReaderAt, first uint64) error {
	err := w.header(file, first)
	if err != nil {
		return err
	}
	s := newScanner(file, w.opened.RunID)
	for err == nil {
		err = w.step(s)
	}
	reason, ok := noFrame(err)
	if !ok {
		return err
	}
	w.lastFirst, w.lastEnd = first, s.offset
	rest, rerr := io.ReadAll(io.NewSectionReader(file, s.offset, MaxSegmentBytes))
	if rerr != nil {
		return rerr
	}
	if w.opened.Clean = err == errClosedFrame && len(rest) == frameHeaderBytes; w.opened.Clean || len(rest) == 0 {
		return nil
	}
	return w.torn(segmentName(first), rest, reason)
}

// torn decides whether rest, which does not begin with the next frame, is a torn end or damage.
func (w *walk) torn(name string, rest []byte, reason string) error {
	if durable := knownDurable(rest, frameSeed(w.opened.RunID)); durable > w.opened.Next {
		return w.corrupt(name, w.lastEnd, reason+fmt.Sprintf(", and the events before %d had been synced", durable))
	}
	w.opened.Cut = &Cut{File: name, Offset: w.lastEnd, Bytes: int64(len(rest)), Event: w.opened.Next, Reason: reason}
	return nil
}
