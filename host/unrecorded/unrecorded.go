// Package unrecorded finds out that a record has lost its end. Each entry of a record is whole by itself, so that only
// what the host wrote after it had recorded something tells that this is gone: a loss of power takes no such entry.
package unrecorded

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Record is what the record of an experiment has.
type Record struct {
	Seed   uint64
	Trials int
}

// Trial returns an error if there are results of a trial that the record does not have. No host may be at work.
func Trial(d storage.Dir, r Record) error {
	entries, err := nolink.ReadDir(d.Trials())
	if err != nil {
		return nil // no trial has begun, or others say why not
	}
	for _, entry := range entries {
		dir := filepath.Join(d.Trials(), entry.Name())
		if entry.IsDir() && later(entry.Name(), r) && hasResults(dir) {
			return lost(d, dir+" is there", fmt.Sprintf("after %d trials", r.Trials))
		}
	}
	return nil
}

// Event returns an error if the result files have events after the last one of the record.
func Event(d storage.Dir, last uint64) error {
	written := files.Reported(d.Path())
	if written <= last {
		return nil
	}
	return lost(d, fmt.Sprintf("the files of results have event %d (%s)", written, files.Position(d.Path())),
		fmt.Sprintf("with event %d", last))
}

func lost(d storage.Dir, there, end string) error {
	return fmt.Errorf("%s, but the record ends %s: its last entries are gone; put the files of %s back from a copy, "+
		"or, to go on without them, move the directories of later trials and %s away", there, end, d.Journal(),
		files.Position(d.Path()))
}

// later reports whether a name is that of the directory of a trial which the record does not have. Names that no host
// has given are a user's.
func later(name string, r Record) bool {
	digits, rest, _ := strings.Cut(name, "_")
	no, err := strconv.ParseUint(digits, 10, 32)
	return err == nil && no >= uint64(r.Trials) && strings.HasPrefix(rest, naming.ID(r.Seed, uint32(no)))
}

// hasResults reports whether results of a trial were written: those are recorded before, and are on disk.
func hasResults(dir string) bool {
	for _, name := range []string{"result.jsonl", "progress.csv"} {
		if info, err := nolink.Lstat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}
