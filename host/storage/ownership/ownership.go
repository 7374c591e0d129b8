// Package ownership checks whether other users can change a file or folder that the host runs programs
// from or writes to. A user who can write there can make the host run programs as its own user.
package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/tunehost/tunehost/host/untrusted"
)

// Check returns an error if another user could change what is at a path; info describes it.
func Check(path string, info fs.FileInfo) error { return check(path, info, os.Geteuid()) }

func check(path string, info fs.FileInfo, me int) error {
	owner, group, ok := Of(info)
	if !ok {
		return nil
	}
	if owner != me && owner != 0 {
		return fmt.Errorf("%s belongs to another user (%d; you are %d), who could change what runs as you: copy it to "+
			"a folder of your own, or make it yours with chown", path, owner, me)
	}
	if shared(info, group, me) {
		return fmt.Errorf("%s can be written to by others (%v), who could change what runs as you: run chmod go-w %s",
			path, info.Mode(), untrusted.Word(path))
	}
	return nil
}

// Shared reports whether others can write to what info describes. A group of this user alone is no other.
func Shared(info fs.FileInfo) bool {
	_, group, ok := Of(info)
	return ok && shared(info, group, os.Geteuid())
}

func shared(info fs.FileInfo, group, me int) bool {
	return info.Mode()&0o002 != 0 || info.Mode()&0o020 != 0 && !private(group, me)
}

// CheckAbove returns an error if everybody could replace one of the folders above a path.
func CheckAbove(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if err := within(path, dir, info, os.Geteuid(), "name a folder of your own with --storage"); err != nil {
				return err
			}
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// CheckFolder returns an error if everybody could replace a file, or if its folder cannot be read.
func CheckFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return within(path, dir, info, os.Geteuid(), "copy it to a folder of your own")
}

// within is the error for a path in a folder. Who may not change the mode of the folder is told what to do instead.
func within(path, dir string, info fs.FileInfo, me int, instead string) error {
	if info.Mode()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	advice := "run chmod o-w " + untrusted.Word(dir)
	if owner, _, ok := Of(info); ok && me != 0 && owner != me {
		advice = fmt.Sprintf("%s; only user %d, who owns %s, may change that", instead, owner, dir)
	}
	return fmt.Errorf("%s is in a folder that everybody can write to (%v), who could change what runs as you: %s",
		path, info.Mode(), advice)
}

// Of returns a file's owner and group.
func Of(info fs.FileInfo) (owner, group int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// private reports whether a group is the user's own: same number or same name, and no other member.
// Many systems give each user such a group and make files writable to it.
func private(group, me int) bool {
	if group == me {
		return true
	}
	u, errU := user.LookupId(strconv.Itoa(me))
	g, errG := user.LookupGroupId(strconv.Itoa(group))
	return errU == nil && errG == nil && u.Gid == g.Gid && u.Username == g.Name
}
