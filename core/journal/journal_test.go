package journal_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

func TestAppendAndReopen(t *testing.T) {
	fs := small(t, true)
	want, opened, err := verify(fs)
	must(t, err)
	if !opened.Clean || opened.Cut != nil || opened.Next != 37 || opened.RunID != testRun || opened.Format != 1 {
		t.Fatalf("opened: %+v", opened)
	}
	var all [][]byte
	j, _, err := journal.Open(fs, testOpts, collect(&all))
	must(t, err)
	if !equal(all, want) || !equal(all, batch(0, 1, 36)) {
		t.Fatalf("%d events, not those appended", len(all))
	}
	if first, err := j.Append(batch(0, 37, 2)); first != 37 || err != nil {
		t.Fatal(first, err)
	}
	if j.Next() != 39 || j.Durable() != 37 {
		t.Fatalf("next %d, durable %d", j.Next(), j.Durable())
	}
	must(t, j.Sync())
	if j.Durable() != 39 {
		t.Fatalf("durable %d", j.Durable())
	}
	must(t, j.Close())
	if _, opened, err = verify(fs); err != nil || opened.Next != 39 || !opened.Clean {
		t.Fatal(opened, err)
	}
}

func TestOpeningAgainAndAgainAddsNoFiles(t *testing.T) {
	for _, closed := range []bool{true, false} {
		fs := small(t, closed)
		var names []string
		for i := range 4 {
			j, _, err := journal.Open(fs, testOpts, nil)
			must(t, err)
			if closed {
				must(t, j.Close())
			}
			if i == 0 {
				names = fs.Names()
			}
		}
		if got := fs.Names(); strings.Join(got, " ") != strings.Join(names, " ") {
			t.Errorf("closed %v: %v, at first %v", closed, got, names)
		}
	}
}

func TestCreateAndOpenRefuse(t *testing.T) {
	full, empty := small(t, true), journaltest.New(1)
	_, err := journal.Create(full, testOpts)
	wantError(t, err, journal.ErrExists)
	wantError(t, err, fs.ErrExist)
	_, err = journal.Create(empty, journal.Options{})
	wantText(t, err, "a run needs an id")
	_, err = journal.Create(empty, journal.Options{RunID: testRun, SegmentBytes: 1 << 40})
	wantText(t, err, "segments of 1099511627776 bytes")
	_, _, err = journal.Open(empty, testOpts, nil)
	wantError(t, err, journal.ErrNoJournal)
	wantError(t, err, fs.ErrNotExist)
	_, _, err = journal.Open(full, journal.Options{RunID: journal.RunID{9}}, nil)
	wantError(t, err, journal.ErrWrongRun)
	if n := len(empty.Names()); n != 0 {
		t.Errorf("%d files were made", n)
	}
}

func TestReplayErrorEndsOpenAndChangesNothing(t *testing.T) {
	for _, bad := range []error{errors.New("unknown event"), io.EOF} {
		fs := small(t, false)
		before := snapshot(fs)
		_, _, err := journal.Open(fs, testOpts, func(first uint64, _ [][]byte) error {
			if first > 30 {
				return bad
			}
			return nil
		})
		wantError(t, err, bad)
		if snapshot(fs) != before {
			t.Errorf("%v: files were changed", bad)
		}
	}
}

func TestLimits(t *testing.T) {
	dir := journaltest.New(1)
	j := mustCreate(t, dir)
	for _, c := range []struct {
		records [][]byte
		text    string
	}{
		{make([][]byte, journal.MaxFrameRecords+1), "65537 records in one append (limit 65536)"},
		{[][]byte{nil, make([]byte, journal.MaxRecordBytes+1)}, "record 1 of the batch has 1048577 bytes (limit " +
			"1048576)"},
		{many(9, make([]byte, journal.MaxRecordBytes)), "(limit 8388608); append it in parts"},
	} {
		_, err := j.Append(c.records)
		wantError(t, err, journal.ErrTooLarge)
		wantText(t, err, c.text)
	}
	if first, err := j.Append(nil); first != 1 || err != nil {
		t.Errorf("empty batch: %d, %v", first, err)
	}
	if first, err := j.Append(make([][]byte, journal.MaxFrameRecords)); first != 1 || err != nil {
		t.Errorf("the most records: %d, %v", first, err)
	}
	if names := dir.Names(); len(names) != 1 || strings.Count(strings.Join(dir.Trace(), "\n"), "create") != 1 {
		t.Errorf("a segment without events was left for a large frame: %v", dir.Trace())
	}
	if first, err := j.Append([][]byte{make([]byte, journal.MaxRecordBytes)}); first != 65537 || err != nil {
		t.Errorf("the largest record: %d, %v", first, err)
	}
}

func TestClosed(t *testing.T) {
	j := mustCreate(t, journaltest.New(1))
	must(t, j.Close())
	_, err := j.Append(batch(0, 1, 1))
	wantError(t, err, journal.ErrClosed)
	wantError(t, j.Sync(), journal.ErrClosed)
	wantError(t, j.Close(), journal.ErrClosed)
}

func TestSyncWithoutNewsDoesNothing(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	mustAppend(t, j, 1)
	must(t, j.Sync())
	n := fs.Ops()
	must(t, j.Sync())
	if fs.Ops() != n {
		t.Error("a sync without news went to the disk")
	}
}

func TestSameAppendsSameBytes(t *testing.T) {
	one, two := small(t, true), small(t, true)
	if snapshot(one) != snapshot(two) {
		t.Error("two equal runs left different files")
	}
}

func many(n int, record []byte) [][]byte {
	records := make([][]byte, n)
	for i := range records {
		records[i] = record
	}
	return records
}

// snapshot returns the contents of a directory as one string.
func snapshot(fs *journaltest.FS) string {
	var b bytes.Buffer
	for _, name := range fs.Names() {
		b.WriteString(name)
		b.Write(fs.ReadBytes(name))
	}
	return b.String()
}

func wantError(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
		return
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
}

func wantText(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q", err, text)
	}
}

// Open writes nothing if what it has replayed is not accepted.
func TestNotAccepted(t *testing.T) {
	fs := small(t, false)
	before := snapshot(fs)
	opts, replayed, refusal := testOpts, 0, errors.New("not all of it")
	opts.Accept = func() error {
		if replayed != 36 {
			t.Errorf("asked after %d events", replayed)
		}
		return refusal
	}
	_, _, err := journal.Open(fs, opts, func(_ uint64, records [][]byte) error {
		replayed += len(records)
		return nil
	})
	wantError(t, err, refusal)
	if snapshot(fs) != before {
		t.Error("files were changed")
	}
}
