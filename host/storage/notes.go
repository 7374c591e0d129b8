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

// lastCopy is what a host copies before it ends.
type lastCopy struct {
	To    string    `json:"to"`
	Until time.Time `json:"until"`
}

func (d Dir) copying() string { return filepath.Join(d.path, "copying.json") }

// maxCopying is larger than the note of a copy.
const maxCopying = 1 << 16

// NoteCopying notes that the host copies the rest to a storage, until a time at most, and then ends.
func (d Dir) NoteCopying(to string, until time.Time) error {
	text, err := json.Marshal(lastCopy{to, until})
	if err != nil {
		return err
	}
	return WriteFile(d.copying(), append(text, '\n'))
}

// ForgetCopying takes it back.
func (d Dir) ForgetCopying() error { return unlessMissing(nolink.Remove(d.copying())) }

// readCopying returns what NoteCopying wrote; nothing, if that cannot be read or is over.
func (d Dir) readCopying(now time.Time) (c lastCopy) {
	text, err := ReadFile(d.copying(), maxCopying)
	if err != nil || json.Unmarshal(text, &c) != nil || !c.Until.After(now) {
		return lastCopy{}
	}
	return c
}

// Untold is a reporter that has not received all events when its host ends.
type Untold struct {
	Reporter string `json:"reporter"`
	// Waits is how long the host waits for it.
	Waits time.Time `json:"waits"`
}

func (d Dir) untold() string { return filepath.Join(d.path, "untold.json") }

// NoteUntold notes for which reporter the host waits; nil: for none any more.
func (d Dir) NoteUntold(u *Untold) error {
	if u == nil {
		return unlessMissing(nolink.Remove(d.untold()))
	}
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return WriteFile(d.untold(), append(text, '\n'))
}

// readUntold returns what NoteUntold wrote, if the host still waits.
func (d Dir) readUntold(now time.Time) (u Untold, waits bool) {
	text, err := ReadFile(d.untold(), maxUntold)
	waits = err == nil && json.Unmarshal(text, &u) == nil && u.Waits.After(now)
	return u, waits
}

// maxUntold is larger than the name of a reporter.
const maxUntold = 1 << 16

// Leaving says what a host that ends waits for, and how long at most; "": for nothing.
func (d Dir) Leaving(now time.Time) string {
	if u, waits := d.readUntold(now); waits {
		return fmt.Sprintf("its host still waits for the reporter %q to receive all events, %v more at most",
			u.Reporter, u.Waits.Sub(now).Round(time.Second))
	}
	if c := d.readCopying(now); c.To != "" {
		return fmt.Sprintf("its host still copies the last of it to %q, for %v more at most", c.To,
			c.Until.Sub(now).Round(time.Second))
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

// LeavesBy returns when a host that ends stops to wait for its executors and reporters, or to copy; zero: it does
// neither.
func (d Dir) LeavesBy(now time.Time) (end time.Time) {
	end = d.readCopying(now).Until
	if u, waits := d.readUntold(now); waits && u.Waits.After(end) {
		end = u.Waits
	}
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
