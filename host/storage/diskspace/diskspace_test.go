package diskspace

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// B-087: the host waits for a full disk, but not for a record that failed on one, which would never
// end.
func TestFailedRecordIsNotWaitedFor(t *testing.T) {
	fs := journaltest.New(1)
	j, err := journal.Create(fs, journal.Options{RunID: journal.RunID{1}})
	if err != nil {
		t.Fatal(err)
	}
	fs.SetRoom(10)
	if _, err := j.Append([][]byte{make([]byte, 100)}); !IsFull(err) {
		t.Fatalf("a full disk: %v", err)
	}
	fs.SetRoom(10)
	fs.FailAt(fs.Ops()+2, journaltest.IO) // the partial write cannot be truncated
	_, err = j.Append([][]byte{make([]byte, 100)})
	if IsFull(err) || !IsFull(fmt.Errorf("made: %w", syscall.ENOSPC)) {
		t.Fatalf("a record that failed: %v", err)
	}
}
