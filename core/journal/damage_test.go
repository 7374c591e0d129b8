package journal_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// A mark is one frame of a file, read without the package's own code.
type mark struct {
	offset, end    int
	first, durable uint64
	count          int
}

func marks(contents []byte) []mark {
	var all []mark
	for at := 64; at < len(contents); {
		b := contents[at:]
		m := mark{
			offset: at, end: at + 40 + int(binary.LittleEndian.Uint32(b[12:])),
			count: int(binary.LittleEndian.Uint32(b[16:])),
			first: binary.LittleEndian.Uint64(b[24:]), durable: binary.LittleEndian.Uint64(b[32:]),
		}
		all = append(all, m)
		at = m.end
	}
	return all
}

// B-086: a journal cut at any byte has exactly the complete frames before the cut. A cut in a
// segment that has a successor is refused.
func TestCutAtEveryByte(t *testing.T) {
	whole := small(t, false)
	names := whole.Names()
	for i, name := range names {
		contents := whole.ReadBytes(name)
		for n := range contents {
			fs := small(t, false)
			fs.WriteBytes(name, contents[:n])
			if i+1 < len(names) || n < 64 {
				refused(t, fs, name, n)
			} else {
				cutThere(t, fs, name, contents, n)
			}
		}
	}
}

// refused checks that Open names the position and changes no file.
func refused(t *testing.T, fs *journaltest.FS, name string, n int) {
	t.Helper()
	before := snapshot(fs)
	_, _, err := journal.Open(fs, testOpts, nil)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.File != name || corrupt.Offset > int64(n) {
		t.Fatalf("%s cut at %d: %v", name, n, err)
	}
	if snapshot(fs) != before {
		t.Fatalf("%s cut at %d: refused, but files were changed", name, n)
	}
}

func cutThere(t *testing.T, fs *journaltest.FS, name string, contents []byte, n int) {
	t.Helper()
	end, next := 64, marks(contents)[0].first
	for _, m := range marks(contents) {
		if m.end <= n {
			end, next = m.end, m.first+uint64(m.count)
		}
	}
	var all [][]byte
	_, opened, err := journal.Open(fs, testOpts, collect(&all))
	if err != nil || opened.Next != next || !equal(all, batch(0, 1, int(next-1))) {
		t.Fatalf("%s cut at %d: %+v, %v, want next %d", name, n, opened, err, next)
	}
	if torn := n > end; torn != (opened.Cut != nil) {
		t.Fatalf("%s cut at %d: report %v", name, n, opened.Cut)
	}
	if c := opened.Cut; c != nil && (c.File != name || c.Offset != int64(end) || c.Bytes != int64(n-end) ||
		c.Event != next) {
		t.Fatalf("%s cut at %d: report %v, want offset %d event %d", name, n, c, end, next)
	}
}

// A flipped bit is refused, or ends the journal if no later frame proves that the events were
// synced. It is never missed.
func TestFlipEveryBit(t *testing.T) {
	refusedFlips, tornFlips := 0, 0
	for _, closed := range []bool{false, true} {
		fs := small(t, closed)
		for _, name := range fs.Names() {
			contents := fs.ReadBytes(name)
			for bit := range 8 * len(contents) {
				damaged := append([]byte(nil), contents...)
				damaged[bit/8] ^= 1 << (bit % 8)
				fs.WriteBytes(name, damaged)
				if flip(t, fs, contents, bit) {
					refusedFlips++
				} else {
					tornFlips++
				}
			}
			fs.WriteBytes(name, contents)
		}
	}
	t.Logf("%d flips refused, %d taken as a torn end", refusedFlips, tornFlips)
}

// flip opens a journal with one wrong bit and reports whether it was refused.
func flip(t *testing.T, fs *journaltest.FS, original []byte, bit int) bool {
	t.Helper()
	all, opened, err := verify(fs)
	if !equal(all, batch(0, 1, len(all))) {
		t.Fatalf("bit %d: wrong events", bit)
	}
	if errors.Is(err, journal.ErrCorrupt) {
		return true
	}
	if err != nil || opened.Cut == nil {
		t.Fatalf("bit %d: unnoticed, or the wrong error: %+v, %v", bit, opened, err)
	}
	for _, m := range marks(original) {
		if m.offset > bit/8 && m.durable > opened.Next {
			t.Fatalf("bit %d: cut at event %d, but a later frame says that %d were durable", bit, opened.Next,
				m.durable-1)
		}
	}
	return false
}

// B-086: damage by people and disks, and the error messages.
func TestDamage(t *testing.T) {
	const first, second, third = "00000000000000000001.tj", "00000000000000000011.tj", "00000000000000000031.tj"
	for _, c := range []struct {
		name   string
		damage func(fs *journaltest.FS)
		want   error
		text   string
	}{
		{"first segment missing", func(fs *journaltest.FS) { fs.Delete(first) }, journal.ErrCorrupt,
			first + ": damaged at byte 0, event 1: this file is missing, and the events from 11 on are there; " +
				"nothing was changed: restore this file from a copy"},
		{"segment missing", func(fs *journaltest.FS) { fs.Delete(second) }, journal.ErrCorrupt,
			"event 11: the file ends here, and the next one begins with event 19: it is cut short, or the segment " +
				second + " is missing"},
		{"segments swapped", func(fs *journaltest.FS) {
			a, b := fs.ReadBytes(first), fs.ReadBytes(second)
			fs.WriteBytes(first, b)
			fs.WriteBytes(second, a)
		}, journal.ErrCorrupt, first + ": damaged at byte 32, event 1: the file holds events from 11, which does " +
			"not match its name"},
		{"segment of another run", func(fs *journaltest.FS) {
			fs.WriteBytes(third, edit(fs.ReadBytes(third), 16, 0xff))
		}, journal.ErrWrongRun, third + " is of run ff0203"},
		{"segment after other events", func(fs *journaltest.FS) {
			fs.WriteBytes(third, edit(fs.ReadBytes(third), 12, 0xff))
		}, journal.ErrCorrupt, third + ": damaged at byte 12, event 31: it does not continue the segment before it"},
		{"newer format", func(fs *journaltest.FS) {
			fs.WriteBytes(third, edit(fs.ReadBytes(third), 8, 2))
		}, journal.ErrNewerFormat, third + ": journal format 2, but this program knows formats up to 1: use a newer " +
			"tunehost"},
		{"no format", func(fs *journaltest.FS) {
			fs.WriteBytes(third, edit(fs.ReadBytes(third), 8, 0))
		}, journal.ErrCorrupt, "there is no journal format 0"},
		{"not a segment", func(fs *journaltest.FS) {
			fs.WriteBytes(third, make([]byte, 4096))
		}, journal.ErrCorrupt, "this is not a journal segment"},
		{"empty file", func(fs *journaltest.FS) { fs.WriteBytes(third, nil) }, journal.ErrCorrupt,
			"the segment header is cut short"},
		{"appended to a sealed segment", func(fs *journaltest.FS) {
			fs.WriteBytes(first, append(fs.ReadBytes(first), make([]byte, 41)...))
		}, journal.ErrCorrupt, "41 bytes follow the last event"},
		{"synced frame zeroed", func(fs *journaltest.FS) {
			b := fs.ReadBytes(third)
			m := marks(b)[0]
			clear(b[m.offset:m.end])
			fs.WriteBytes(third, b)
		}, journal.ErrCorrupt, third + ": damaged at byte 64, event 31: there is no frame, and the events before 32 " +
			"had been synced"},
		{"junk appended", func(fs *journaltest.FS) {
			fs.WriteBytes(third, append(fs.ReadBytes(third), "junk"...))
		}, nil, ""},
		{"files of others", func(fs *journaltest.FS) {
			fs.WriteBytes("notes.txt", []byte("hello"))
			fs.WriteBytes("1.tj", []byte("hello"))
			fs.WriteBytes("99999999999999999999.tj", []byte("hello"))
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := small(t, false)
			c.damage(fs)
			before := snapshot(fs)
			all, _, err := verify(fs)
			if c.want == nil {
				if err != nil || !equal(all, batch(0, 1, 36)) {
					t.Fatalf("%d events, %v", len(all), err)
				}
				return
			}
			_, _, err = journal.Open(fs, testOpts, nil)
			wantError(t, err, c.want)
			wantText(t, err, c.text)
			if snapshot(fs) != before {
				t.Error("files were changed")
			}
		})
	}
}

// edit changes one byte of a segment header and fixes its checksum.
func edit(contents []byte, at int, value byte) []byte {
	contents[at] = value
	binary.LittleEndian.PutUint32(contents[60:], crc32.Checksum(contents[:60], crc32.MakeTable(crc32.Castagnoli)))
	return contents
}

// A valid frame that does not continue the previous one is not part of the journal.
func TestFrameOutOfOrder(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	for range 3 {
		mustAppend(t, j, 1)
	}
	b := fs.ReadBytes(fs.Names()[0])
	second := marks(b)[1]
	fs.WriteBytes(fs.Names()[0], append(b[:second.offset:second.offset], b[second.end:]...))
	all, opened, err := verify(fs)
	if err != nil || !equal(all, batch(0, 1, 1)) || opened.Cut == nil {
		t.Fatal(opened, err)
	}
}

// An unsynced frame that is lost, while the next one is complete, ends the journal. It is not
// damage.
func TestUnsyncedFrameLostBeforeAWholeOne(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	mustAppend(t, j, 2)
	must(t, j.Sync())
	mustAppend(t, j, 1)
	mustAppend(t, j, 1)
	b := fs.ReadBytes(fs.Names()[0])
	lost := marks(b)[1]
	clear(b[lost.offset:lost.end])
	fs.WriteBytes(fs.Names()[0], b)
	var all [][]byte
	_, opened, err := journal.Open(fs, testOpts, collect(&all))
	if err != nil || !equal(all, batch(0, 1, 2)) || opened.Cut == nil {
		t.Fatal(opened, err)
	}
	const report = "00000000000000000001.tj: 139 bytes cut off at byte 135, from event 3 on: there is no frame (an " +
		"append that a crash interrupted)"
	if got := opened.Cut.String(); got != report {
		t.Errorf("report: %s", got)
	}
	if _, opened, err = verify(fs); err != nil || opened.Next != 3 || opened.Cut != nil {
		t.Fatal(opened, err)
	}
}
