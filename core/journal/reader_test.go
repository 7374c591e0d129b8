package journal_test

import (
	"errors"
	"io"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"pgregory.net/rapid"
)

// A concurrent reader sees complete batches only, in order. When it has caught up it has all
// events, across rotation, close and open.
func TestReaderFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := journaltest.New(1)
		r := journal.NewReader(fs)
		var seen [][]byte
		err := readAll(r, &seen)
		if err != nil || len(seen) != 0 {
			t.Fatalf("before the journal: %d, %v", len(seen), err)
		}
		j := mustCreate(t, fs)
		appended := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				err = j.Sync()
			case 1:
				if err = j.Close(); err == nil {
					j, _, err = journal.Open(fs, testOpts, nil)
				}
			case 2: // killed
				j, _, err = journal.Open(fs, testOpts, nil)
			case 3:
				err = readAll(r, &seen)
				if err == nil && len(seen) != appended {
					t.Fatalf("the reader has %d of %d events", len(seen), appended)
				}
			default:
				n := rapid.IntRange(1, 9).Draw(t, "records")
				_, err = j.Append(batch(0, appended+1, n))
				appended += n
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := readAll(r, &seen); err != nil || !equal(seen, batch(0, 1, appended)) {
			t.Fatalf("at the end the reader has %d of %d events: %v", len(seen), appended, err)
		}
	})
}

// While a frame is being written the reader waits for the rest, whatever the part contains.
func TestReaderWaitsForWholeFrames(t *testing.T) {
	whole := small(t, false)
	names := whole.Names()
	name := names[len(names)-1]
	contents := whole.ReadBytes(name)
	r := journal.NewReader(whole)
	var seen [][]byte
	whole.WriteBytes(name, contents[:64])
	for n := 64; n <= len(contents); n++ {
		whole.WriteBytes(name, append(contents[:n:n], make([]byte, n%3)...))
		if err := readAll(r, &seen); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		want := 0
		for _, m := range marks(contents) {
			if m.end <= n {
				want = int(m.first) + m.count - 1
			}
		}
		if want > 0 && len(seen) != want {
			t.Fatalf("%d bytes: %d events, want %d", n, len(seen), want)
		}
	}
	if !equal(seen, batch(0, 1, 36)) || r.RunID() != testRun || r.Durable() != 32 {
		t.Fatalf("%d events, run %x, durable %d", len(seen), r.RunID(), r.Durable())
	}
}

func TestReaderIsToldOfEventsThatWereTakenBack(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	mustAppend(t, j, 2)
	must(t, j.Sync())
	mustAppend(t, j, 2)
	r := journal.NewReader(fs)
	var seen [][]byte
	must(t, readAll(r, &seen))
	name := fs.Names()[0]
	b := fs.ReadBytes(name)
	fs.WriteBytes(name, b[:len(b)-1]) // power loss
	_, _, err := r.Next()
	wantError(t, err, journal.ErrRewound)
	j, _, err = journal.Open(fs, testOpts, nil)
	must(t, err)
	for range 5 { // one segment each; one of them begins where the reader is
		_, _, err = r.Next()
		wantError(t, err, journal.ErrRewound)
		mustAppend(t, j, 1)
		must(t, j.Close())
		j, _, err = journal.Open(fs, testOpts, nil)
		must(t, err)
	}
	seen = nil
	must(t, readAll(journal.NewReader(fs), &seen))
	if !equal(seen, batch(0, 1, 7)) {
		t.Errorf("a new reader has %d events", len(seen))
	}
}

func TestReaderReportsDamage(t *testing.T) {
	fs := small(t, false)
	b := fs.ReadBytes(fs.Names()[1])
	b[200] ^= 1
	fs.WriteBytes(fs.Names()[1], b)
	var seen [][]byte
	err := readAll(journal.NewReader(fs), &seen)
	wantError(t, err, journal.ErrCorrupt)
	wantText(t, err, fs.Names()[1])
	fs.Delete(fs.Names()[0])
	wantError(t, readAll(journal.NewReader(fs), &seen), journal.ErrCorrupt)
}

func TestReaderClosedAndFailing(t *testing.T) {
	fs := small(t, true)
	r := journal.NewReader(fs)
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	must(t, r.Close())
	_, _, err := r.Next()
	wantError(t, err, journal.ErrClosed)
	fs.FailAt(fs.Ops()+1, journaltest.IO)
	if _, _, err := journal.NewReader(fs).Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error of the disk became %v", err)
	}
}

// The reader only reads: its file system type has no other methods, and it creates no file.
func TestReaderMakesNothing(t *testing.T) {
	fs := journaltest.New(1)
	if _, _, err := journal.NewReader(fs).Next(); err != io.EOF {
		t.Error(err)
	}
	if len(fs.Names()) != 0 || len(fs.Trace()) != 0 {
		t.Errorf("files %v, operations %v", fs.Names(), fs.Trace())
	}
}
