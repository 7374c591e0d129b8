// Package unrecorded finds out that a record has lost its end. Each entry of a record is whole by itself, so that only
// what the host wrote after it had recorded something tells that this is gone: a loss of power takes no such entry.
package unrecorded

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
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
	Last   uint64 // at least the number of the last event
}

// Trial returns an error if there are results of a trial that the record does not have. No host may be at work. It
// looks at the names of all trials' directories.
func Trial(d storage.Dir, r Record) error {
	entries, err := nolink.ReadDir(d.Trials())
	if err != nil {
		return nil // no trial has begun, or others say why not
	}
	for _, entry := range entries {
		dir := filepath.Join(d.Trials(), entry.Name())
		if id := later(entry.Name(), r); entry.IsDir() && id != "" && files.LastEvent(dir, id) > r.Last {
			return lost(d, dir+" has results", counted(r.Trials))
		}
	}
	return nil
}

// counted says after how many trials a record ends.
func counted(trials int) string {
	if trials == 1 {
		return "after one trial"
	}
	return fmt.Sprintf("after %d trials", trials)
}

// Written returns the last event that the result files of an experiment are known to have.
func Written(d storage.Dir) files.Noted { return files.ReadNoted(d.Path()) }

// Doubt says that nothing tells whether the record has lost its end, although there was something; "" otherwise.
func Doubt(d storage.Dir, written files.Noted) string {
	if written.Damaged == nil {
		return ""
	}
	return fmt.Sprintf("%v; it would tell whether the record has lost its last entries, as in a copy that was made "+
		"while the experiment ran; a host writes it anew, once %s is not there any more", written.Damaged,
		files.Position(d.Path()))
}

// Event returns an error if the result files have events, as Written has returned, after the last one of the record.
// If a host may be at work, Written comes before the record is read.
func Event(d storage.Dir, written files.Noted, last uint64) error {
	if written.Event <= last {
		return nil
	}
	if !written.Sealed && !laterResults(d, last) {
		return fmt.Errorf("%s says that the files of results have event %d, but none of them has one after event %d, "+
			"with which the record ends: if it was changed by hand, remove it; if this is a copy that was made "+
			"while the experiment ran, the record has lost its last entries: copy again while no host runs",
			files.Position(d.Path()), written.Event, last)
	}
	return lost(d, fmt.Sprintf("the files of results have event %d (%s)", written.Event, files.Position(d.Path())),
		fmt.Sprintf("with event %d", last))
}

// laterResults reports whether the results of any trial have an event after the last one of the record.
func laterResults(d storage.Dir, last uint64) bool {
	entries, _ := nolink.ReadDir(d.Trials()) // others say why they cannot be read
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, rest, _ := strings.Cut(e.Name(), "_")
		id, _, _ := strings.Cut(rest, "_")
		return e.IsDir() && files.LastEvent(filepath.Join(d.Trials(), e.Name()), id) > last
	})
}

func lost(d storage.Dir, there, end string) error {
	return fmt.Errorf("%s, but the record ends %s: its last entries are gone, as in a copy that was made while the "+
		"experiment ran; put the files of %s back (for a copy: copy again while no host runs), or, to go on without "+
		"them, move the directories of later trials and %s away", there, end, d.Journal(), files.Position(d.Path()))
}

// later returns the trial's id if a name is that of the directory of a trial which the record does not have, or "".
// Names that no host has given are a user's.
func later(name string, r Record) (id string) {
	digits, rest, _ := strings.Cut(name, "_")
	no, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || no < uint64(r.Trials) {
		return ""
	}
	if id = naming.ID(r.Seed, uint32(no)); !strings.HasPrefix(rest, id) {
		return ""
	}
	return id
}
