package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/storage/lack"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Notes are small files by which a host tells readers what the record does not have.

// Unreleased are leases that a host has given up, and whose executor has not confirmed that they are over.
type Unreleased struct {
	Executor string   `json:"executor"`
	Names    []string `json:"names"`
	// Waits is how long the host waits for the executor; zero: it does not wait any more.
	Waits time.Time `json:"waits,omitzero"`
	// Over is when they have ended by themselves, without a host; zero: that is not known.
	Over time.Time `json:"over,omitzero"`
	// Given is when all leases of the executor were given back after their host had died, without a host: the record
	// does not say so.
	Given time.Time `json:"given,omitzero"`
}

// Ended reports whether they have ended by themselves at a time.
func (u *Unreleased) Ended(now time.Time) bool { return !u.Over.IsZero() && now.After(u.Over) }

// Unreleased is a file with all of them, of each executor that the experiment has had.
func (d Dir) Unreleased() string { return filepath.Join(d.path, "unreleased.json") }

// maxUnreleased is larger than the names of all leases of an experiment.
const maxUnreleased = 16 << 20

// NoteUnreleased replaces the leases of an executor that may not be over; without names, all are. Those of another
// executor stay: only it can say that they are over.
func (d Dir) NoteUnreleased(u Unreleased) error {
	all := slices.DeleteFunc(d.ReadUnreleased(), func(old Unreleased) bool { return old.Executor == u.Executor })
	if len(u.Names) > 0 || !u.Given.IsZero() {
		all = append(all, u)
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

// A leaving host has one thing to do before it ends.
type leaving struct {
	// Does is what it does: "copies the last of it to …".
	Does  string    `json:"does"`
	Until time.Time `json:"until"` // at most
}

func (d Dir) leaving() string { return filepath.Join(d.path, "leaving.json") }

// maxLeaving is larger than the note of a host that ends.
const maxLeaving = 1 << 16

// NoteLeaving notes what a host does before it ends ("waits for …"), and until when at most. A zero time takes it back.
func (d Dir) NoteLeaving(does string, until time.Time) error {
	if until.IsZero() {
		return unlessMissing(nolink.Remove(d.leaving()))
	}
	text, err := json.Marshal(leaving{does, until})
	if err != nil {
		return err
	}
	return WriteFile(d.leaving(), append(text, '\n'))
}

// readLeaving returns what NoteLeaving wrote; nothing, if that cannot be read or is over.
func (d Dir) readLeaving(now time.Time) (l leaving) {
	text, err := ReadFile(d.leaving(), maxLeaving)
	if err != nil || json.Unmarshal(text, &l) != nil || !l.Until.After(now) {
		return leaving{}
	}
	return l
}

// Leaving says what a host that ends waits for, and how long at most; "": for nothing.
func (d Dir) Leaving(now time.Time) string {
	if l := d.readLeaving(now); l.Does != "" {
		return fmt.Sprintf("its host still %s, for %v more at most", l.Does, l.Until.Sub(now).Round(time.Second))
	}
	for _, u := range d.ReadUnreleased() {
		left := u.Waits.Sub(now)
		if left <= 0 {
			continue
		}
		what := "leases"
		if n := len(u.Names); n == 1 {
			what = "a lease"
		} else if !slices.ContainsFunc(u.Names, func(name string) bool { return strings.HasSuffix(name, "*") }) {
			what = fmt.Sprintf("%d leases", n)
		}
		return fmt.Sprintf("its host still waits for the executor %q to give %s back, %v more at most", u.Executor,
			what, left.Round(time.Second))
	}
	return ""
}

// LeavesBy returns when a host that ends stops to wait; zero: it waits for nothing.
func (d Dir) LeavesBy(now time.Time) (end time.Time) {
	end = d.readLeaving(now).Until
	for _, u := range d.ReadUnreleased() {
		if u.Waits.After(now) && u.Waits.After(end) {
			end = u.Waits
		}
	}
	return end
}

// namedLeases is how many leases a line names.
const namedLeases = 10

// NamesOfLeases is "th-a-1, th-a-2". A name that ends with * stands for leases whose names are not known.
func NamesOfLeases(names []string) string {
	names = slices.Clone(names)
	for i, name := range names {
		if prefix, open := strings.CutSuffix(name, "*"); open {
			names[i] = "perhaps others that begin with " + prefix
			if len(names) == 1 {
				names[i] = "those that begin with " + prefix
			}
		}
	}
	if more := len(names) - namedLeases; more > 0 {
		names = append(names[:namedLeases], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// Lack is what the disk lacks while a host waits for room.
type Lack = lack.Lack

// lackFiles are the names of an empty file, which say what the host waits for on the disk. It is renamed from one to
// another: where no file can be made, that is still possible.
var lackFiles = map[Lack]string{lack.Nothing: ".room", lack.Space: ".full", lack.Inodes: ".full-inodes",
	lack.Quota: ".full-quota"}

// LackFile returns the file that is there while the host lacks so much.
func (d Dir) LackFile(l Lack) string { return filepath.Join(d.path, lackFiles[l]) }

// ForgetLack takes back what a host has noted that was killed. It makes no file.
func (d Dir) ForgetLack() error { return d.renameLack(lack.Nothing) }

func (d Dir) renameLack(now Lack) error {
	for was := range lackFiles {
		if err := nolink.Rename(d.LackFile(was), d.LackFile(now)); unlessMissing(err) != nil {
			return err
		}
	}
	return nil
}

// NoteLack notes what the host waits for.
func (d Dir) NoteLack(now Lack) error {
	if err := d.renameLack(now); err != nil {
		return err
	}
	f, err := nolink.OpenFile(d.LackFile(now), os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// Lacks returns what NoteLack has noted.
func (d Dir) Lacks() Lack {
	for _, l := range lack.Kinds {
		if _, err := nolink.Lstat(d.LackFile(l)); err == nil {
			return l
		}
	}
	return lack.Nothing
}

func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
