package channel

import (
	"bufio"
	"bytes"
	"io"
)

// Lines reads lines of any length and keeps at most MaxLineBytes of each, so
// that nothing a program writes can exhaust memory or stop the reader.
type Lines struct {
	r    *bufio.Reader
	long []byte
}

// NewLines reads from r.
func NewLines(r *bufio.Reader) *Lines { return &Lines{r: r} }

// Next returns the next line without its end. cut says that it was longer than
// MaxLineBytes; the rest is gone. The line is valid until the next call. A last
// line without an end counts; after it comes io.EOF.
func (l *Lines) Next() (line []byte, cut bool, err error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return trimEnd(part), false, nil
	}
	l.long = l.long[:0]
	for err == bufio.ErrBufferFull {
		cut = l.keep(part) || cut
		part, err = l.r.ReadSlice('\n')
	}
	cut = l.keep(bytes.TrimSuffix(part, []byte{'\n'})) || cut
	if len(l.long) == 0 && err != nil {
		return nil, false, err
	}
	if err == nil || err == io.EOF {
		return trimEnd(l.long), cut, nil
	}
	return nil, false, err
}

// keep adds to the long line what fits and says whether something did not.
func (l *Lines) keep(part []byte) bool {
	room := MaxLineBytes - len(l.long)
	l.long = append(l.long, part[:min(room, len(part))]...)
	return len(part) > room
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}
