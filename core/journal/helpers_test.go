package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

var (
	testRun  = journal.RunID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	testOpts = journal.Options{RunID: testRun, SegmentBytes: 600}
)

// record returns the i-th event as written by the process of that epoch.
func record(epoch, i int) []byte {
	return append(fmt.Appendf(nil, "%d/%d ", epoch, i), bytes.Repeat([]byte{'x'}, i*7%60)...)
}

// batch returns n records, from number first.
func batch(epoch, first, n int) [][]byte {
	var records [][]byte
	for i := range n {
		records = append(records, record(epoch, first+i))
	}
	return records
}

// tester is a *testing.T, *testing.B, *testing.F or *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func mustCreate(t tester, fs journal.FS) *journal.Journal {
	t.Helper()
	j, err := journal.Create(fs, testOpts)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func mustAppend(t testing.TB, j *journal.Journal, n int) {
	t.Helper()
	if _, err := j.Append(batch(0, int(j.Next()), n)); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// collect returns a Replay that appends to *all and checks the numbers.
func collect(all *[][]byte) journal.Replay {
	return func(first uint64, records [][]byte) error {
		if first != uint64(len(*all)+1) {
			return fmt.Errorf("events from %d come after %d", first, len(*all))
		}
		for _, r := range records {
			*all = append(*all, bytes.Clone(r))
		}
		return nil
	}
}

func verify(fs journal.ReadFS) ([][]byte, journal.Opened, error) {
	var all [][]byte
	opened, err := journal.Verify(fs, testOpts, collect(&all))
	return all, opened, err
}

// readAll reads until a Reader has no more.
func readAll(r *journal.Reader, all *[][]byte) error {
	add := collect(all)
	for {
		first, records, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := add(first, records); err != nil {
			return err
		}
	}
}

func equal(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// digest of events: each with its number and length.
func digest(all [][]byte) string {
	h := sha256.New()
	for i, r := range all {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], uint64(i+1))
		binary.LittleEndian.PutUint64(b[8:], uint64(len(r)))
		h.Write(b[:])
		h.Write(r)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:12])
}

// small returns a journal of 36 events in segments that begin with 1, 11, 19 and 31. The batches
// have 1 to 5 events; every other one is synced. The journal is closed, or as kill -9 leaves it.
func small(t testing.TB, closed bool) *journaltest.FS {
	t.Helper()
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	for i := range 13 {
		mustAppend(t, j, 1+i%5)
		if i%2 == 0 {
			must(t, j.Sync())
		}
	}
	if closed {
		must(t, j.Close())
	}
	fs.Die(journaltest.Kill)
	return fs.Restart(1)
}
