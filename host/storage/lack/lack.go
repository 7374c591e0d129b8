// Package lack says what a disk lacks when nothing can be written: space, inodes or the user's quota. The host that
// waits, and each reader of its experiment, tell the user in these words.
package lack

import (
	"errors"
	"syscall"
)

// Lack is what is missing.
type Lack uint8

// The kinds.
const (
	Nothing Lack = iota
	Space
	Inodes
	Quota
)

// Kinds are all but Nothing.
var Kinds = []Lack{Space, Inodes, Quota}

var texts = [...]struct{ what, remedy string }{
	Space:  {"the disk is full", "free some space"},
	Inodes: {"no file can be made on the disk (no inode is free)", "remove some files"},
	Quota:  {"your quota of the disk is used up", "remove some files"},
}

// String says what is missing, as the beginning of a sentence.
func (l Lack) String() string { return texts[l].what }

// Remedy says what the user can do.
func (l Lack) Remedy() string { return texts[l].remedy }

// Waits says what a host does about it; "" for Nothing.
func (l Lack) Waits() string {
	if l == Nothing {
		return ""
	}
	return l.String() + ": nothing is started, recorded or saved until there is space; " + l.Remedy() + " and the " +
		"experiment continues by itself"
}

// Of returns what a directory's disk lacks after a write there has failed with err, for lack of something.
func Of(dir string, err error) Lack {
	var at syscall.Statfs_t
	_ = syscall.Statfs(dir, &at) // it stays zero where nothing is known
	switch {
	case errors.Is(err, syscall.EDQUOT):
		return Quota
	case at.Files > 0 && at.Ffree == 0 && at.Bavail > 0:
		return Inodes
	}
	return Space
}
