package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// The test checks the order of all writes, syncs and renames, on which the guarantees of the
// package depend.
func TestOperations(t *testing.T) {
	var story strings.Builder
	fs := journaltest.New(1)
	told := 0
	tell := func(format string, args ...any) {
		for _, line := range fs.Trace()[told:] {
			fmt.Fprintln(&story, "  "+line)
		}
		told = len(fs.Trace())
		if format != "" {
			fmt.Fprintf(&story, format+"\n", args...)
		}
	}
	tell("create")
	j := mustCreate(t, fs)
	tell("append 3")
	mustAppend(t, j, 3)
	tell("sync")
	must(t, j.Sync())
	tell("append 12, then 3, which go to a new segment")
	mustAppend(t, j, 12)
	mustAppend(t, j, 3)
	tell("append 2 on a full disk")
	fs.SetRoom(10)
	_, err := j.Append(batch(0, 19, 2))
	wantError(t, err, journal.ErrNoSpace)
	fs.SetRoom(-1)
	tell("append 2 again")
	mustAppend(t, j, 2)
	tell("killed; open")
	j, _, err = journal.Open(fs, testOpts, nil)
	must(t, err)
	tell("append 1, close")
	mustAppend(t, j, 1)
	must(t, j.Close())
	tell("open")
	_, _, err = journal.Open(fs, testOpts, nil)
	must(t, err)
	tell("killed; open")
	_, _, err = journal.Open(fs, testOpts, nil)
	must(t, err)
	tell("")
	compareFile(t, "testdata/operations.txt", story.String())
}
