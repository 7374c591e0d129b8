package recovery

import (
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// A host that cannot continue a record because the disk is full says what to do, and the record stays as it is.
func TestFullDiskAtResume(t *testing.T) {
	fs := journaltest.New(1)
	o := journal.Options{RunID: journal.RunID{1}}
	j, err := journal.Create(fs, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	fs.SetRoom(0)
	_, _, err = journal.Open(fs, o, func(uint64, [][]byte) error { return nil })
	text := advised("DIR/journal", err).Error()
	if !strings.Contains(text, "DIR/journal cannot be written: free some space") ||
		!strings.Contains(text, "run the same command again") {
		t.Error(text)
	}
	if text := advised("DIR/journal", syscall.EIO).Error(); strings.Contains(text, "space") {
		t.Error(text)
	}
	fs.SetRoom(1 << 20)
	if _, _, err := journal.Open(fs, o, func(uint64, [][]byte) error { return nil }); err != nil {
		t.Error(err)
	}
}
