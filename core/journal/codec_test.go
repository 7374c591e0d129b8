package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

func drawRecords(t *rapid.T) [][]byte {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 20).Draw(t, "records")
}

func TestFrameThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		seed := rapid.Uint32().Draw(t, "seed")
		first := rapid.Uint64Min(1).Draw(t, "first")
		durable := rapid.Uint64Range(1, first).Draw(t, "durable")
		b, crc := appendFrame(nil, seed, frameHeader{first: first, durable: durable}, records)
		if len(b) != frameBytes(records) {
			t.Fatalf("%d bytes, foretold %d", len(b), frameBytes(records))
		}
		h, bad := decodeFrameHeader(b, seed)
		if bad != "" || h.first != first || h.durable != durable || h.headerCRC != crc {
			t.Fatalf("%+v: %s", h, bad)
		}
		back, bad := splitRecords(nil, h, b[frameHeaderBytes:])
		if bad != "" || len(back) != len(records) {
			t.Fatalf("%d records: %s", len(back), bad)
		}
		for i := range back {
			if !bytes.Equal(back[i], records[i]) {
				t.Fatalf("record %d", i)
			}
		}
		if _, bad := decodeFrameHeader(b, seed+1); bad == "" {
			t.Fatal("a frame of another run was taken")
		}
	})
}

func TestHeaderThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := segmentHeader{format: newestFormat(), link: rapid.Uint32().Draw(t, "link"),
			first: rapid.Uint64Min(1).Draw(t, "first")}
		copy(h.run[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "run"))
		name := segmentName(h.first)
		if first, ok := parseSegmentName(name); !ok || first != h.first {
			t.Fatalf("%s is of event %d, %v", name, first, ok)
		}
		back, err := decodeSegmentHeader(name, h.first, h.encode())
		if err != nil || back != h {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

// Headers with valid checksums that this package never writes.
func TestSenselessFramesAreRefused(t *testing.T) {
	one := [][]byte{[]byte("x")}
	for name, frame := range map[string]func() []byte{
		"durable beyond itself": func() []byte {
			b,
				_ := appendFrame(nil, 7, frameHeader{first: 3, durable: 4}, one)
			return b
		},
		"unknown flag": func() []byte {
			b,
				_ := appendFrame(nil, 7, frameHeader{first: 3, flags: 2}, one)
			return b
		},
		"closed with records": func() []byte {
			b,
				_ := appendFrame(nil, 7, frameHeader{first: 3, flags: flagClosed}, one)
			return b
		},
		"nothing": func() []byte { b, _ := appendFrame(nil, 7, frameHeader{first: 3}, nil); return b },
		"more than its records": func() []byte {
			b, _ := appendFrame(nil, 7, frameHeader{first: 3}, append(one, one...))
			b[16] = 1
			binary.LittleEndian.PutUint32(b[4:], crc32.Update(7, castagnoli(), b[8:frameHeaderBytes]))
			return b
		},
		"record beyond limit": func() []byte {
			b, _ := appendFrame(nil, 7, frameHeader{first: 3}, [][]byte{make([]byte, MaxRecordBytes+1)})
			return b
		},
		"frame beyond limit": func() []byte {
			b, _ := appendFrame(nil, 7, frameHeader{first: 3}, [][]byte{make([]byte, MaxFrameBytes)})
			return b
		},
	} {
		s := &scanner{file: bytes.NewReader(frame()), seed: 7}
		if _, err := s.next(3); err == nil {
			t.Errorf("%s: taken", name)
		} else if _, ok := err.(badFrame); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFormatsAreInOrder(t *testing.T) {
	for i, f := range formats {
		if f.what == "" || i > 0 && f.version <= formats[i-1].version {
			t.Errorf("format %d", f.version)
		}
	}
}
