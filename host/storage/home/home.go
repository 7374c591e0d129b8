package home

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/machine"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// maxBytes is larger than any place.json, and than the start of a run.json that matters.
const maxBytes = 64 << 20

// place is place.json: where the last host ran the experiment.
type place struct {
	Run string `json:"run_id"`
	Dir string `json:"dir"`
	// Inode is the directory's number on its file system; 0: unknown. It stays the same where the directory is renamed,
	// and on other machines that share the file system.
	Inode uint64 `json:"inode,omitempty"`
	// Machine identifies the machine, and Host is its name.
	Machine string `json:"machine,omitempty"`
	Host    string `json:"host,omitempty"`
	// Salt changes the names of leases of an experiment that began as a copy; "": they come from the run alone.
	Salt string `json:"salt,omitempty"`
}

// Home is an experiment's directory. A nil Home is that of an experiment that cannot be copied.
type Home struct {
	dir   storage.Dir
	here  place
	noted place // without a run: nothing is noted
	copy  bool
	// unseen: the noted directory may be there or not.
	unseen bool
}

// Of looks at the directory of a run.
func Of(dir storage.Dir, run string) *Home {
	h := &Home{dir: dir, here: here(dir, run)}
	text, err := storage.ReadFile(dir.Place(), maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return h
	}
	if err != nil || json.Unmarshal(text, &h.noted) != nil {
		h.noted, h.copy, h.unseen = place{Run: run}, true, true
		return h
	}
	if h.noted.Run != run { // of an experiment that was here before
		h.noted = place{}
		return h
	}
	h.here.Salt = h.noted.Salt
	h.copy, h.unseen = h.compare()
	return h
}

func here(dir storage.Dir, run string) place {
	name, _ := os.Hostname()
	p := place{Run: run, Dir: dir.Path(), Machine: machine.Name(), Host: name}
	if info, err := os.Stat(dir.Path()); err == nil {
		p.Inode = inode(info)
	}
	return p
}

// compare reports whether the directory is a copy. One whose original cannot be seen counts as one: leases that are
// left alone end by themselves, but those of a living host that are taken away lose the work of its trials.
func (h *Home) compare() (copied, unseen bool) {
	sameInode := h.here.Inode != 0 && h.here.Inode == h.noted.Inode
	sameMachine := h.here.Machine == h.noted.Machine
	if h.noted.Dir == h.here.Dir {
		other := !sameInode && !sameMachine
		return other, other
	}
	there, err := os.Stat(h.noted.Dir)
	switch {
	case err == nil && h.isHere(there):
		return false, false
	case err == nil && runAt(h.noted.Dir) == h.here.Run:
		return true, false
	case sameInode || sameMachine && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return false, false // it was moved
	}
	return true, true
}

func (h *Home) isHere(there os.FileInfo) bool {
	info, err := os.Stat(h.dir.Path())
	return err == nil && os.SameFile(info, there)
}

// runAt is the run of the experiment in a directory; "" if there is none.
func runAt(dir string) string {
	d, err := storage.At(dir)
	if err != nil {
		return ""
	}
	text, err := storage.ReadFile(filepath.Join(d.Path(), "run.json"), maxBytes)
	var r struct {
		Run string `json:"run_id"`
	}
	if err != nil || json.Unmarshal(text, &r) != nil {
		return ""
	}
	return r.Run
}

// Copy reports whether the directory is a copy that no host has run yet, as far as is known.
func (h *Home) Copy() bool { return h != nil && h.copy }

// About tells the user of a copy whose leases are left alone; "": it is none.
func (h *Home) About() string {
	if !h.Copy() {
		return ""
	}
	alone := fmt.Sprintf("its leases (%s*) are left alone, and those of this host have other names", prefix(h.noted))
	if !h.unseen {
		return fmt.Sprintf("this is a copy of %s, which is an experiment of its own: %s", h.original(), alone)
	}
	return fmt.Sprintf("the last host of this experiment ran it in %s, which cannot be seen from here: it may be "+
		"there still, so %s; if it was moved here, cancel what has its names with the cluster's own command, or "+
		"wait until its agents have had no host for host_grace", h.original(), alone)
}

// maxText is the longest text of place.json in a message.
const maxText = 1000

// original is the noted directory, for the user.
func (h *Home) original() string {
	switch {
	case h.noted.Dir == "":
		return "a directory that is not known (" + h.dir.Place() + " cannot be read)"
	case h.unseen && h.noted.Host != "":
		return untrusted.Line(h.noted.Dir+" on "+h.noted.Host, maxText)
	}
	return untrusted.Line(h.noted.Dir, maxText)
}

// Part makes a copy an experiment of its own: its leases get names of their own, and what belongs to the original's
// leases is forgotten. It does nothing with others.
func (h *Home) Part() error {
	if !h.Copy() {
		return nil
	}
	if err := nolink.RemoveAll(h.dir.Agents()); err != nil { // the original's agents would take this host for theirs
		return err
	}
	if err := nolink.RemoveAll(h.dir.Unreleased()); err != nil {
		return err
	}
	h.here.Salt = rand.Text()
	if err := h.write(); err != nil {
		return err
	}
	h.copy = false
	return nil
}

// Note notes that the experiment is here, if that is new.
func (h *Home) Note() error {
	if h == nil || h.here == h.noted {
		return nil
	}
	return h.write()
}

func (h *Home) write() error {
	text, err := json.Marshal(h.here)
	if err != nil {
		return err
	}
	if err := storage.WriteFile(h.dir.Place(), append(text, '\n')); err != nil {
		return err
	}
	h.noted = h.here
	return nil
}

// Prefix begins the names of a run's leases, and of no other's.
func (h *Home) Prefix(run string) string {
	if h == nil {
		return prefix(place{Run: run})
	}
	return prefix(h.here)
}

// prefixed is how many characters of the run, or of its hash, the prefix has.
const prefixed = 16

func prefix(p place) string {
	run := strings.ToLower(p.Run)
	if p.Salt != "" {
		sum := sha256.Sum256([]byte(run + p.Salt))
		run = hex.EncodeToString(sum[:])
	}
	return "th-" + run[:min(prefixed, len(run))] + "-"
}
