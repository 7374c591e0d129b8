package journal_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// FuzzOpen opens any two files as a journal. The result is an error or a working journal, never a
// panic. If asked, it fixes checksums first, so that the fuzzer gets past them.
func FuzzOpen(f *testing.F) {
	fs := small(f, true)
	names := fs.Names()
	f.Add(fs.ReadBytes(names[0]), fs.ReadBytes(names[1]), false)
	f.Add(fs.ReadBytes(names[0]), []byte{}, true)
	f.Add(fs.ReadBytes(names[0])[:300], fs.ReadBytes(names[1])[:70], true)
	f.Fuzz(func(t *testing.T, one, two []byte, mend bool) {
		if mend {
			one, two = mendChecksums(one), mendChecksums(two)
		}
		fs := journaltest.New(1)
		fs.WriteBytes(names[0], one)
		if len(two) > 0 {
			fs.WriteBytes(names[1], two)
		}
		openAndContinue(t, fs)
	})
}

func openAndContinue(t *testing.T, fs *journaltest.FS) {
	before := snapshot(fs)
	var live, all [][]byte
	liveErr := readAll(journal.NewReader(fs), &live)
	j, opened, err := journal.Open(fs, journal.Options{}, collect(&all))
	if err != nil {
		if snapshot(fs) != before {
			t.Fatalf("refused, but files were changed: %v", err)
		}
		return
	}
	if liveErr != nil || !equal(live, all) {
		t.Fatalf("the reader has %d events (%v), Open has %d", len(live), liveErr, len(all))
	}
	_, err = j.Append([][]byte{[]byte("one more")})
	must(t, err)
	must(t, j.Close())
	again, err := journal.Verify(fs, journal.Options{}, nil)
	if err != nil || !again.Clean || again.Next != opened.Next+1 {
		t.Fatalf("opened with %+v, and again with %+v: %v", opened, again, err)
	}
}

// mendChecksums fixes the checksums of the header and the frames, as far as the lengths are valid.
func mendChecksums(contents []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	b := bytes.Clone(contents)
	if len(b) < 64 {
		return b
	}
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], table))
	seed := crc32.Checksum(b[16:32], table)
	for at := 64; len(b)-at >= 40; {
		f := b[at:]
		end := min(40+int(binary.LittleEndian.Uint32(f[12:])), len(f))
		binary.LittleEndian.PutUint32(f[8:], crc32.Checksum(f[40:end], table))
		binary.LittleEndian.PutUint32(f[4:], crc32.Update(seed, table, f[8:40]))
		at += end
	}
	return b
}
