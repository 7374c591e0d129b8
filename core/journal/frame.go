package journal

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

const (
	frameMagic       = "\xf5TJF"
	frameHeaderBytes = 40
	flagClosed       = 1
)

// A frameHeader is the decoded header of a frame; see the package comment.
type frameHeader struct {
	headerCRC    uint32
	payloadCRC   uint32
	payloadBytes uint32
	count        uint32
	flags        uint32
	first        uint64
	durable      uint64
}

// frameSeed is the start value of the CRC of each frame header: the CRC of the run id.
func frameSeed(run RunID) uint32 { return checksum(run[:]) }

// frameBytes returns the size of the frame that holds records.
func frameBytes(records [][]byte) int {
	n := frameHeaderBytes
	for _, r := range records {
		n += varintBytes(len(r)) + len(r)
	}
	return n
}

func varintBytes(n int) int { return (bits.Len32(uint32(n)|1) + 6) / 7 }

// appendFrame appends the frame of records to b, which must be empty. It sets count, payloadBytes
// and the checksums, and returns the header CRC.
func appendFrame(b []byte, seed uint32, h frameHeader, records [][]byte) ([]byte, uint32) {
	b = append(b, make([]byte, frameHeaderBytes)...)
	for _, r := range records {
		b = binary.AppendUvarint(b, uint64(len(r)))
		b = append(b, r...)
	}
	payload := b[frameHeaderBytes:]
	copy(b, frameMagic)
	binary.LittleEndian.PutUint32(b[8:], checksum(payload))
	binary.LittleEndian.PutUint32(b[12:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(records)))
	binary.LittleEndian.PutUint32(b[20:], h.flags)
	binary.LittleEndian.PutUint64(b[24:], h.first)
	binary.LittleEndian.PutUint64(b[32:], h.durable)
	crc := crc32.Update(seed, castagnoli(), b[8:frameHeaderBytes])
	binary.LittleEndian.PutUint32(b[4:], crc)
	return b, crc
}

// decodeFrameHeader returns the header at the start of b, or the reason why there is none. A
// returned header was written by this package for the run of the seed; the payload may still be
// damaged.
func decodeFrameHeader(b []byte, seed uint32) (frameHeader, badFrame) {
	if len(b) < frameHeaderBytes {
		return frameHeader{}, "the frame header is cut short"
	}
	if string(b[:4]) != frameMagic {
		return frameHeader{}, "there is no frame"
	}
	h := frameHeader{
		headerCRC:    binary.LittleEndian.Uint32(b[4:]),
		payloadCRC:   binary.LittleEndian.Uint32(b[8:]),
		payloadBytes: binary.LittleEndian.Uint32(b[12:]),
		count:        binary.LittleEndian.Uint32(b[16:]),
		flags:        binary.LittleEndian.Uint32(b[20:]),
		first:        binary.LittleEndian.Uint64(b[24:]),
		durable:      binary.LittleEndian.Uint64(b[32:]),
	}
	if h.headerCRC != crc32.Update(seed, castagnoli(), b[8:frameHeaderBytes]) {
		return frameHeader{}, "the checksum of the frame header does not match"
	}
	return h, h.check()
}

// check refuses headers that no version of this package writes.
func (h frameHeader) check() badFrame {
	switch {
	case h.payloadBytes > MaxFrameBytes-frameHeaderBytes, h.count > MaxFrameRecords, h.count > h.payloadBytes:
		return "the frame is beyond the limits"
	case h.flags&^flagClosed != 0, h.durable > h.first:
		return "the frame header is invalid"
	case (h.flags == flagClosed) != (h.count == 0):
		return "the frame has no records and is not the closing one, or both"
	}
	return ""
}

// splitRecords appends the h.count records of payload to records, without copying them, or returns
// the reason why it cannot.
func splitRecords(records [][]byte, h frameHeader, payload []byte) ([][]byte, badFrame) {
	if checksum(payload) != h.payloadCRC {
		return records, "the checksum of the frame does not match"
	}
	for range h.count {
		n, width := binary.Uvarint(payload)
		if width <= 0 || n > MaxRecordBytes || n > uint64(len(payload)-width) {
			return records, "the records do not fit in the frame"
		}
		end := width + int(n)
		records = append(records, payload[width:end:end])
		payload = payload[end:]
	}
	if len(payload) != 0 {
		return records, "the frame has more than its records"
	}
	return records, ""
}
