package journal

import (
	"errors"
	"fmt"
	"io"
)

// A gap is where the files of a journal do not follow each other: File ends at Offset before event Next, and the next
// file begins with event Until.
type gap struct {
	fs          ReadFS
	file        string
	offset      int64
	next, until uint64
}

// error returns what is wrong: the next file is none of the journal, there is one missing before it, or the file itself
// is damaged. end is the error of the scanner at the end of the file.
func (g gap) error(end error) error {
	reason, ok := noFrame(end)
	if !ok {
		return end
	}
	if end != io.EOF && end != errClosedFrame {
		return &CorruptError{File: g.file, Offset: g.offset, Event: g.next, Reason: reason}
	}
	if err := g.stray(); err != nil {
		return err
	}
	if end == errClosedFrame {
		return missing(g.next, g.until)
	}
	return &CorruptError{File: g.file, Offset: g.offset, Event: g.next, Reason: fmt.Sprintf(
		"the file ends here, and the next one begins with event %d: it is cut short, or the segment %s is missing",
		g.until, segmentName(g.next))}
}

// stray returns an error if the next file is not what its name says.
func (g gap) stray() error {
	file, err := g.fs.Open(segmentName(g.until))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = readHeader(file, g.until)
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		return strayError(g.until, g.next, damaged.Offset, damaged.Reason)
	}
	return err
}

// strayError describes a file that does not belong to the journal, which continues or ends with event next.
func strayError(first, next uint64, offset int64, reason string) error {
	return &CorruptError{File: segmentName(first), Offset: offset, Event: next,
		Reason: "this file does not continue the record: " + reason,
		Do:     "move this file away, or restore it and those before it from a copy"}
}

// missing returns the error for the segment that begins with event next, if there are later events.
func missing(next, later uint64) error {
	return &CorruptError{File: segmentName(next), Event: next,
		Reason: fmt.Sprintf("this file is missing, and the events from %d on are there", later)}
}
