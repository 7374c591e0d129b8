package journal

import "fmt"

// The limits of the format. They bound the memory of a reader and are the same in all versions so
// far.
const (
	MaxFrameBytes   = 8 << 20   // a frame with its header; one Append
	MaxFrameRecords = 65536     // records in one Append
	MaxRecordBytes  = 1 << 20   // one record
	MaxSegmentBytes = 256 << 20 // a segment file; Options.SegmentBytes plus one frame stays below

	defaultSegmentBytes = 64 << 20
	minReadBytes        = 4 << 10
	maxReadBytes        = 256 << 10
)

// formats lists the format versions, oldest first. A program reads all of them and writes the last
// one.
var formats = []struct {
	version uint16
	what    string
}{
	{1, "frames have the durable number"},
}

func newestFormat() uint16 { return formats[len(formats)-1].version }

func knownFormat(version uint16) bool {
	for _, f := range formats {
		if f.version == version {
			return true
		}
	}
	return false
}

// checkLimits reports whether records fit into one frame.
func checkLimits(records [][]byte) error {
	if len(records) > MaxFrameRecords {
		return fmt.Errorf("%w: %d records in one append (limit %d)", ErrTooLarge, len(records), MaxFrameRecords)
	}
	for i, r := range records {
		if len(r) > MaxRecordBytes {
			return fmt.Errorf("%w: record %d of the batch has %d bytes (limit %d)", ErrTooLarge, i, len(r),
				MaxRecordBytes)
		}
	}
	if n := frameBytes(records); n > MaxFrameBytes {
		return fmt.Errorf("%w: a batch of %d bytes (limit %d); append it in parts", ErrTooLarge, n, MaxFrameBytes)
	}
	return nil
}
