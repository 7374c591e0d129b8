package storage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Notes are small files by which a host tells readers what the record does not have.

// Unreleased are leases that a host has given up, and whose executor has not confirmed that they are over.
type Unreleased struct {
	Executor string   `json:"executor"`
	Names    []string `json:"names"`
}

// Unreleased is a file with all of them, of each executor that the experiment has had.
func (d Dir) Unreleased() string { return filepath.Join(d.path, "unreleased.json") }

// maxUnreleased is larger than the names of all leases of an experiment.
const maxUnreleased = 16 << 20

// NoteUnreleased replaces the names of an executor's leases that may not be over; nil: all are. Those of another
// executor stay: only it can say that they are over.
func (d Dir) NoteUnreleased(executor string, names []string) error {
	all := slices.DeleteFunc(d.ReadUnreleased(), func(u Unreleased) bool { return u.Executor == executor })
	if len(names) > 0 {
		all = append(all, Unreleased{executor, names})
	}
	if len(all) == 0 {
		return unlessMissing(nolink.Remove(d.Unreleased()))
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return WriteFile(d.Unreleased(), append(text, '\n'))
}

// ReadUnreleased returns what NoteUnreleased wrote. A file that cannot be read has none: it is only for people.
func (d Dir) ReadUnreleased() (all []Unreleased) {
	text, err := ReadFile(d.Unreleased(), maxUnreleased)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// full is an empty file while the host waits for room on the disk: it needs no room itself.
func (d Dir) full() string { return filepath.Join(d.path, ".full") }

// NoteFull notes that the host waits for room, or that it does not.
func (d Dir) NoteFull(waits bool) error {
	if !waits {
		return unlessMissing(nolink.Remove(d.full()))
	}
	f, err := nolink.OpenFile(d.full(), os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// NotedFull reports what NoteFull noted.
func (d Dir) NotedFull() bool {
	_, err := nolink.Lstat(d.full())
	return err == nil
}

func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
