package journal

import (
	"bytes"
	"errors"
	"io"
)

// A badFrame is the reason why there is no complete frame at some position; empty if there is one.
type badFrame string

func (b badFrame) Error() string { return string(b) }

// A frame is one complete frame of a file.
type frame struct {
	frameHeader
	offset  int64
	records [][]byte // valid until the scanner moves on
}

func (f frame) closed() bool { return f.flags == flagClosed }

// end returns the number of the event after the frame.
func (f frame) end() uint64 { return f.first + uint64(f.count) }

// A scanner reads the frames of one segment in order, with bounded memory.
type scanner struct {
	file   io.ReaderAt
	seed   uint32
	offset int64 // of the next frame

	window  []byte // contents of the file from windowAt
	at      int64
	ahead   int // how much to read at once; grows while reads are full, and most reads of a live journal are short
	records [][]byte
}

func newScanner(file io.ReaderAt, run RunID) *scanner {
	return &scanner{file: file, seed: frameSeed(run), offset: segmentHeaderBytes, at: segmentHeaderBytes}
}

// restart continues with file at offset.
func (s *scanner) restart(file io.ReaderAt, offset int64) {
	s.file, s.offset, s.at, s.window = file, offset, offset, s.window[:0]
}

// next returns the next complete frame with the given first event. It returns io.EOF at the end of
// the file, and a badFrame without moving if there is no such frame. Other errors are those of the
// file.
func (s *scanner) next(first uint64) (frame, error) {
	b, err := s.peek(frameHeaderBytes)
	if err != nil {
		return frame{}, err
	}
	if len(b) == 0 {
		return frame{}, io.EOF
	}
	h, bad := decodeFrameHeader(b, s.seed)
	if bad != "" {
		return frame{}, bad
	}
	if h.first != first {
		return frame{}, badFrame("the frame does not continue the one before it")
	}
	return s.body(h)
}

func (s *scanner) body(h frameHeader) (frame, error) {
	size := frameHeaderBytes + int(h.payloadBytes)
	b, err := s.peek(size)
	if err != nil {
		return frame{}, err
	}
	if len(b) < size {
		return frame{}, badFrame("the frame is cut short")
	}
	var bad badFrame
	if s.records, bad = splitRecords(s.records[:0], h, b[frameHeaderBytes:]); bad != "" {
		return frame{}, bad
	}
	f := frame{frameHeader: h, offset: s.offset, records: s.records}
	s.offset += int64(size)
	return f, nil
}

// peek returns the next n bytes, or fewer at the end of the file.
func (s *scanner) peek(n int) ([]byte, error) {
	have := s.window[s.offset-s.at:]
	if len(have) >= n {
		return have[:n], nil
	}
	s.window = append(s.window[:0], have...)
	s.at = s.offset
	s.ahead = min(max(2*s.ahead, minReadBytes), maxReadBytes)
	if err := s.fill(max(n, s.ahead)); err != nil {
		return nil, err
	}
	return s.window[:min(n, len(s.window))], nil
}

// fill reads until the window has n bytes or the file ends.
func (s *scanner) fill(n int) error {
	have := len(s.window)
	if cap(s.window) < n {
		s.window = append(make([]byte, 0, n), s.window...)
	}
	got, err := s.file.ReadAt(s.window[have:n], s.at+int64(have))
	s.window = s.window[:have+got]
	if have+got < n {
		s.ahead = 0
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// knownDurable returns the greatest durable number of all valid frame headers in b.
func knownDurable(b []byte, seed uint32) uint64 {
	var durable uint64
	for {
		i := bytes.Index(b, []byte(frameMagic))
		if i < 0 {
			return durable
		}
		if h, bad := decodeFrameHeader(b[i:], seed); bad == "" {
			durable = max(durable, h.durable)
		}
		b = b[i+1:]
	}
}
