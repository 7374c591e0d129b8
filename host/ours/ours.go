// Package ours says who else could change a file or a folder that a host runs from or
// writes to. Whoever can put a name into such a folder can lead a host to run what he
// likes as its user.
package ours

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Check is an error where somebody else could change what is at a path, which info is of.
func Check(path string, info fs.FileInfo) error { return check(path, info, os.Geteuid()) }

func check(path string, info fs.FileInfo, me int) error {
	owner, group, ok := Of(info)
	if !ok {
		return nil
	}
	if owner != me && owner != 0 {
		return fmt.Errorf("%s belongs to another user (%d; you are %d), who could change what runs as you: copy it to a folder of your own, or make it yours with chown", path, owner, me)
	}
	if info.Mode()&0o002 != 0 || info.Mode()&0o020 != 0 && !private(group, me) {
		return fmt.Errorf("%s can be written to by others (%v), who could change what runs as you: run chmod go-w %s", path, info.Mode(), path)
	}
	return nil
}

// Above is an error where everybody could put another folder in the place of one of those
// that path is in.
func Above(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if err := within(path, dir, info); err != nil {
				return err
			}
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// Around is an error where everybody could put another file in the place of one, or where
// its folder cannot be looked at.
func Around(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return within(path, dir, info)
}

func within(path, dir string, info fs.FileInfo) error {
	if info.Mode()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	return fmt.Errorf("%s is in a folder that everybody can write to (%v), who could change what runs as you: "+
		"run chmod o-w %s", path, info.Mode(), dir)
}

// Of are a file's owner and group.
func Of(info fs.FileInfo) (owner, group int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// private says whether a group is the user's own, as many systems give each user one and
// make files writable to it: same number or same name, and nobody else in it.
func private(group, me int) bool {
	if group == me {
		return true
	}
	u, errU := user.LookupId(strconv.Itoa(me))
	g, errG := user.LookupGroupId(strconv.Itoa(group))
	return errU == nil && errG == nil && u.Gid == g.Gid && u.Username == g.Name
}
