package channel

import (
	"bufio"
	"bytes"
	"io"
)

// Lines reads lines of any length and keeps at most MaxLineBytes of each, so that the output of a
// program cannot exhaust memory or stop the reader.
type Lines struct {
	r    *bufio.Reader
	long []byte
	size int
}

// NewLines returns Lines that read from r.
func NewLines(r *bufio.Reader) *Lines { return &Lines{r: r} }

// Next returns the next line without its end, and without a byte order mark (U+FEFF) before it: programs on some
// systems begin their output with one. cut reports that the line was longer than
// MaxLineBytes and was truncated. The line is valid until the next call. A last line without an end
// counts; after it Next returns io.EOF.
func (l *Lines) Next() (line []byte, cut bool, err error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return trim(part), false, nil
	}
	l.long, l.size = l.long[:0], 0
	for err == bufio.ErrBufferFull {
		cut = l.keep(part) || cut
		part, err = l.r.ReadSlice('\n')
	}
	cut = l.keep(bytes.TrimSuffix(part, []byte{'\n'})) || cut
	if len(l.long) == 0 && err != nil {
		return nil, false, err
	}
	if err == nil || err == io.EOF {
		return trim(l.long), cut, nil
	}
	return nil, false, err
}

// Size returns the length in bytes of a line that Next has cut.
func (l *Lines) Size() int { return l.size }

// keep appends part to the long line and reports whether it did not fit completely.
func (l *Lines) keep(part []byte) bool {
	l.size += len(part)
	room := MaxLineBytes - len(l.long)
	l.long = append(l.long, part[:min(room, len(part))]...)
	return len(part) > room
}

func trim(line []byte) []byte {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
	return bytes.TrimPrefix(line, []byte("\ufeff"))
}
