package storage

import (
	"fmt"
	"os"
	"syscall"
)

// Doubts are what may go wrong in a directory that a host is about to work in, each a
// warning: who else could change what runs, and file systems on which a lock is none.
func (d Dir) Doubts() (list []string) {
	info, err := os.Stat(d.path)
	if err != nil {
		return nil
	}
	if text := othersMay(info, os.Getuid()); text != "" {
		list = append(list, d.path+" "+text)
	}
	if name := remote(d.path); name != "" {
		list = append(list, fmt.Sprintf("%s is on %s: that a second host is kept out, and that what is synced is on disk, is up to it; let one machine alone run this experiment", d.path, name))
	}
	return list
}

// othersMay says how somebody else could change what a host runs from a directory.
func othersMay(info os.FileInfo, me int) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return ""
	case int(s.Uid) != me && s.Uid != 0 && me != 0:
		return fmt.Sprintf("belongs to another user (%d; you are %d), who could change what runs as you: copy it to a folder of your own", s.Uid, me)
	case info.Mode()&0o002 != 0:
		return fmt.Sprintf("can be written to by everybody (%v), who could change what runs as you: run chmod o-w on it", info.Mode())
	}
	return ""
}
