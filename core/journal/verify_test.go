package journal_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// busy is a directory whose writer appends and syncs each time that a reader has found nothing more in a file.
type busy struct {
	*journaltest.FS
	write func()
}

func (b busy) Open(name string) (journal.ReadFile, error) {
	f, err := b.FS.Open(name)
	return busyFile{f, b.write}, err
}

type busyFile struct {
	journal.ReadFile
	write func()
}

func (f busyFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.ReadFile.ReadAt(b, at)
	if n == 0 && errors.Is(err, io.EOF) {
		f.write()
	}
	return n, err
}

// What a host appends while its journal is verified is no damage.
func TestVerifyWhileWritten(t *testing.T) {
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	mustAppend(t, j, 3)
	_, opened, err := verify(busy{fs, func() {
		mustAppend(t, j, 1)
		must(t, j.Sync())
		mustAppend(t, j, 1)
	}})
	if err != nil || opened.Next < 4 || opened.Cut != nil {
		t.Errorf("%+v, %v", opened, err)
	}
}

// Verify reads a segment in pieces: it takes less memory than the segment has bytes.
func TestVerifyMemory(t *testing.T) {
	dir, err := journal.MakeDir(t.TempDir() + "/journal")
	must(t, err)
	defer dir.Close()
	j, err := journal.Create(dir, journal.Options{RunID: testOpts.RunID})
	must(t, err)
	record := make([]byte, 1<<16)
	for range 256 {
		_, err := j.Append([][]byte{record})
		must(t, err)
	}
	must(t, j.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opened, err := journal.Verify(dir, journal.Options{}, nil)
	runtime.ReadMemStats(&after)
	if err != nil || opened.Next != 257 || !opened.Clean {
		t.Fatalf("%+v, %v", opened, err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated for a segment of 16 MB", n)
	}
}
