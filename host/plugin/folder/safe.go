package folder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// safe refuses a file or folder that somebody else could change.
func safe(path string, info fs.FileInfo) error {
	owner, group, ok := belongs(info)
	if !ok {
		return nil
	}
	if me := os.Getuid(); owner != me && owner != 0 {
		return fmt.Errorf("%s belongs to another user (%d; you are %d), who could change what runs as you: copy it to a folder of your own, or make it yours with chown", path, owner, me)
	}
	if info.Mode()&0o002 != 0 || info.Mode()&0o020 != 0 && !private(group) {
		return fmt.Errorf("%s can be written to by others (%v), who could change what runs as you: run chmod go-w %s", path, info.Mode(), path)
	}
	return nil
}

// private says whether a group is the user's own, as many systems give each
// user one and make files writable to it: same number, and nobody else in it.
func private(group int) bool { return group == os.Getuid() && group != 0 }

func belongs(info fs.FileInfo) (owner, group int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// safeFile follows links: what counts is the file that is used.
func safeFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return safe(path, info)
}

// safeAround refuses a file in a folder in which everybody can replace it.
func safeAround(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil || info.Mode()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return err
	}
	return fmt.Errorf("%s is in a folder that everybody can write to (%v), who could change what runs as you: run chmod o-w %s", path, info.Mode(), dir)
}
