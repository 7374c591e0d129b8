package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync"
)

// RunID identifies a run; all its segments and frames contain it.
type RunID [16]byte

const (
	segmentMagic       = "TUNEJRNL"
	segmentHeaderBytes = 64
	segmentSuffix      = ".tj"
	oldTemporarySuffix = ".tmp"
	segmentNameDigits  = 20
)

// castagnoli makes the table of checksums when one is needed: that takes 0.2 ms, and only hosts have a journal.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli()) }

// A segmentHeader is the decoded header; see the package comment.
type segmentHeader struct {
	format uint16
	link   uint32
	run    RunID
	first  uint64
}

func (h segmentHeader) encode() []byte {
	b := make([]byte, segmentHeaderBytes)
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint16(b[8:], h.format)
	binary.LittleEndian.PutUint32(b[12:], h.link)
	copy(b[16:], h.run[:])
	binary.LittleEndian.PutUint64(b[32:], h.first)
	binary.LittleEndian.PutUint32(b[60:], checksum(b[:60]))
	return b
}

// decodeSegmentHeader reads the header of the file called name. Its errors use the event in the
// name.
func decodeSegmentHeader(name string, first uint64, b []byte) (segmentHeader, error) {
	damaged := func(offset int64, reason string) error {
		return &CorruptError{File: name, Offset: offset, Event: first, Reason: reason}
	}
	if len(b) < segmentHeaderBytes {
		return segmentHeader{}, damaged(int64(len(b)), "the segment header is cut short")
	}
	if string(b[:8]) != segmentMagic {
		return segmentHeader{}, damaged(0, "this is not a journal segment")
	}
	if binary.LittleEndian.Uint32(b[60:]) != checksum(b[:60]) {
		return segmentHeader{}, damaged(0, "the checksum of the segment header does not match")
	}
	h := segmentHeader{
		format: binary.LittleEndian.Uint16(b[8:]),
		link:   binary.LittleEndian.Uint32(b[12:]),
		run:    RunID(b[16:32]),
		first:  binary.LittleEndian.Uint64(b[32:]),
	}
	if h.format > newestFormat() {
		return h, &NewerFormatError{File: name, Format: h.format, Newest: newestFormat()}
	}
	if !knownFormat(h.format) {
		return h, damaged(8, fmt.Sprintf("there is no journal format %d", h.format))
	}
	if h.first != first {
		return h, damaged(32, fmt.Sprintf("the file holds events from %d, which does not match its name", h.first))
	}
	return h, nil
}

func segmentName(first uint64) string {
	return fmt.Sprintf("%0*d%s", segmentNameDigits, first, segmentSuffix)
}

// IsSegment reports whether name is the name of a journal segment.
func IsSegment(name string) bool {
	_, ok := parseSegmentName(name)
	return ok
}

// parseSegmentName returns the first event of the segment called name, or false for other files.
func parseSegmentName(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != segmentNameDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil
}
